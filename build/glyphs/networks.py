"""The networks of the VAE-GANs: 24x24 grey pictures in [0, 1] to 256 numbers and back, and the discriminator.

pooled: convolution then max-pooling in the encoder, upsampling then deconvolution in the decoder, as the thesis has it (section 3.2.2).
Otherwise each step halves or doubles by its stride, as in Larsen et al. (2016).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

LATENT = 256


def block(inside: int, out: int, up: bool) -> nn.Sequential:
    """Halve or double a picture by a stride."""
    conv = nn.ConvTranspose2d(inside, out, 4, 2, 1) if up else nn.Conv2d(inside, out, 4, 2, 1)
    return nn.Sequential(conv, nn.BatchNorm2d(out), nn.LeakyReLU(0.2) if not up else nn.ReLU())


def pooling(inside: int, out: int) -> nn.Sequential:
    """Halve a picture by max-pooling."""
    return nn.Sequential(nn.Conv2d(inside, out, 5, 1, 2), nn.BatchNorm2d(out), nn.ReLU(), nn.MaxPool2d(2))


def sampling(inside: int, out: int) -> nn.Sequential:
    """Double a picture by upsampling."""
    return nn.Sequential(nn.Upsample(scale_factor=2), nn.ConvTranspose2d(inside, out, 5, 1, 2))


class Encoder(nn.Module):
    def __init__(self, pooled: bool = False) -> None:
        super().__init__()
        sizes = [(1, 64), (64, 128), (128, 256)]
        steps = [pooling(a, b) if pooled else block(a, b, False) for a, b in sizes]
        self.body = nn.Sequential(*steps, nn.Flatten())
        self.mean, self.spread = nn.Linear(256 * 9, LATENT), nn.Linear(256 * 9, LATENT)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.body(x)
        return self.mean(h), self.spread(h).clamp(-8, 4)


class Decoder(nn.Module):
    """Decoder and generator in one: they share all weights."""

    def __init__(self, pooled: bool = False) -> None:
        super().__init__()
        self.start = nn.Sequential(nn.Linear(LATENT, 256 * 9), nn.ReLU(), nn.Unflatten(1, (256, 3, 3)))
        if pooled:
            inner = [nn.Sequential(sampling(a, b), nn.BatchNorm2d(b), nn.ReLU()) for a, b in ((256, 128), (128, 64))]
            self.body = nn.Sequential(*inner, sampling(64, 1))
        else:
            self.body = nn.Sequential(block(256, 128, True), block(128, 64, True), nn.ConvTranspose2d(64, 1, 4, 2, 1))

    def forward(self, z: Tensor) -> Tensor:
        return torch.sigmoid(self.body(self.start(z)))


class Discriminator(nn.Module):
    """Also measures likeness: two pictures are alike if its third layer sees them alike (Larsen's Dis_l)."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 5, 1, 2), nn.LeakyReLU(0.2), block(32, 128, False), block(128, 256, False)
        )
        self.verdict = nn.Sequential(
            nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(256 * 36, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.features(x)
        return features, self.verdict(features)
