"""Learn the visual space: a VAE-GAN (Larsen et al. 2016) on all rendered characters, and neighbours in it and in raw pixels.

    python build/glyphs/train.py carry/glyphs.npz OUT [--epochs 60] [--variants plain mixed]

plain: the paper's setting, each sans image reconstructs itself. mixed: the input is a shifted, blurred or noisy image of either
font, the target always the clean sans image, so that the code holds the shape and not the drawing. Writes neighbours-*.npz (the 40
nearest of each character, with cosines), reconstructions.npz and codes.npz (for the pictures).
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

LATENT, NEIGHBOURS = 256, 40
SHOWN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?&@#éñüßøÅжЯщфΩαβשלمनमिक한漢字あカไ"


def block(inside: int, out: int, up: bool) -> nn.Sequential:
    """Halve or double a picture."""
    conv = nn.ConvTranspose2d(inside, out, 4, 2, 1) if up else nn.Conv2d(inside, out, 4, 2, 1)
    return nn.Sequential(conv, nn.BatchNorm2d(out), nn.LeakyReLU(0.2) if not up else nn.ReLU())


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(block(1, 64, False), block(64, 128, False), block(128, 256, False), nn.Flatten())
        self.mean, self.spread = nn.Linear(256 * 9, LATENT), nn.Linear(256 * 9, LATENT)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = self.body(x)
        return self.mean(h), self.spread(h).clamp(-8, 4)


class Decoder(nn.Module):
    """Decoder and generator in one: they share all weights."""

    def __init__(self) -> None:
        super().__init__()
        self.start = nn.Sequential(nn.Linear(LATENT, 256 * 9), nn.ReLU(), nn.Unflatten(1, (256, 3, 3)))
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


def spoiled(images: Tensor, random: torch.Generator) -> Tensor:
    """Shift by up to a dot, blur or thin a little, add noise."""
    dx, dy = (int(torch.randint(-1, 2, (1,), generator=random, device=images.device)) for _ in range(2))
    out = torch.roll(images, (dx, dy), (2, 3))
    amount = torch.rand(images.shape[0], 1, 1, 1, generator=random, device=images.device) * 0.6
    out = out * (1 - amount) + F.avg_pool2d(out, 3, 1, 1) * amount
    return (out + 0.05 * torch.randn(out.shape, generator=random, device=images.device)).clamp(0, 1)


def train(images: Tensor, mixed: bool, epochs: int, seed: int) -> tuple[Encoder, Decoder]:
    """images: (views, characters, 24, 24) in [0, 1]."""
    torch.manual_seed(seed)
    device = images.device
    random = torch.Generator(device).manual_seed(seed)
    encoder, decoder, judge = Encoder().to(device), Decoder().to(device), Discriminator().to(device)
    builders = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], 3e-4, (0.5, 0.999))
    critic = torch.optim.Adam(judge.parameters(), 1e-4, (0.5, 0.999))
    views, count = images.shape[:2]
    steps = epochs * (count // 256)
    rates = [torch.optim.lr_scheduler.OneCycleLR(o, o.defaults["lr"] * 3, steps + 1) for o in (builders, critic)]
    begin = time.time()
    for epoch in range(epochs):
        totals = torch.zeros(4, device=device)
        order = torch.randperm(count, generator=random, device=device)
        for batch in order[: count // 256 * 256].split(256):
            target = images[0, batch].unsqueeze(1)
            source = target
            if mixed:
                view = torch.randint(views, batch.shape, generator=random, device=device)
                source = spoiled(images[view, batch].unsqueeze(1), random)
            mean, spread = encoder(source)
            z = mean + torch.exp(spread / 2) * torch.randn(mean.shape, generator=random, device=device)
            made, dreamt = decoder(z), decoder(torch.randn(z.shape, generator=random, device=device))
            prior = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1).mean()

            real_features, real = judge(target)
            made_features, fake = judge(made)
            _, dream = judge(dreamt)
            ones, zeros = torch.ones_like(real), torch.zeros_like(real)
            bce = F.binary_cross_entropy_with_logits
            judged = bce(real, ones) + 0.5 * (bce(fake, zeros) + bce(dream, zeros))
            likeness = F.mse_loss(made_features, real_features.detach()) * 50
            pixels = F.mse_loss(made, target) * SIZE
            fooled = 0.5 * (bce(fake, ones) + bce(dream, ones))

            builders.zero_grad()
            (likeness + pixels + 0.02 * fooled + 2e-3 * prior).backward(retain_graph=True)
            critic.zero_grad()  # the builders' step left gradients in the judge
            judge_grads = torch.autograd.grad(judged, list(judge.parameters()))
            for parameter, gradient in zip(judge.parameters(), judge_grads, strict=True):
                parameter.grad = gradient
            builders.step()
            if float(judged.detach()) > 0.5:  # a judge that always wins teaches nothing
                critic.step()
            for rate in rates:
                rate.step()
            totals += torch.stack([likeness, pixels, judged, prior]).detach()
        if epoch % 5 == 4 or epoch == epochs - 1:
            shown = ", ".join(f"{x:.3f}" for x in (totals / (count // 256)).tolist())
            print(
                f"{'mixed' if mixed else 'plain'} epoch {epoch + 1}: likeness, pixels, judge, prior {shown}; {time.time() - begin:.0f} s",
                flush=True,
            )
    return encoder.eval(), decoder.eval()


SIZE = 24 * 24


@torch.no_grad()
def encode(encoder: Encoder, images: Tensor) -> Tensor:
    """The mean code of each character, averaged over its views, centred."""
    codes = torch.stack(
        [torch.cat([encoder(part.unsqueeze(1))[0] for part in view.split(4096)]) for view in images]
    ).mean(0)
    return codes - codes.mean(0)


def nearest(vectors: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The NEIGHBOURS nearest by cosine, the character itself left out."""
    unit = F.normalize(vectors.float(), dim=1)
    found, likeness = [], []
    for begin in range(0, unit.shape[0], 2048):
        cosine = unit[begin : begin + 2048] @ unit.T
        cosine[torch.arange(cosine.shape[0]), torch.arange(begin, begin + cosine.shape[0])] = -2
        best = cosine.topk(NEIGHBOURS)
        found.append(best.indices.cpu().numpy().astype(np.uint16))
        likeness.append(best.values.cpu().numpy().astype(np.float16))
    return np.concatenate(found), np.concatenate(likeness)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("glyphs")
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--variants", nargs="*", default=["plain", "mixed"])
    parser.add_argument("--limit", type=int, help="only so many characters, for a trial")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    data = np.load(args.glyphs)
    codes = data["codes"][: args.limit]
    images = torch.from_numpy(data["images"][:, : args.limit]).to(device).float() / 255

    def save(name: str, vectors: Tensor) -> None:
        near, likeness = nearest(vectors)
        np.savez_compressed(args.out / f"neighbours-{name}.npz", codes=codes, near=codes[near], likeness=likeness)

    save("ices", images[0].flatten(1))
    pictures = {}
    for name in args.variants:
        encoder, decoder = train(images if name == "mixed" else images[:1], name == "mixed", args.epochs, seed=0)
        vectors = encode(encoder, images if name == "mixed" else images[:1])
        save(name, vectors)
        rows = torch.tensor([int(np.searchsorted(codes, ord(c))) for c in SHOWN if ord(c) in set(codes.tolist())])
        with torch.no_grad():
            shown = images[0, rows.to(device)].unsqueeze(1)
            pictures[name] = (
                torch.stack([shown, decoder(encoder(shown)[0])]).squeeze(2).cpu().numpy().astype(np.float16)
            )
        low = codes < 0x600  # what a picture of the space can show
        np.savez_compressed(
            args.out / f"codes-{name}.npz", codes=codes[low], vectors=vectors.cpu().numpy()[low].astype(np.float16)
        )
    np.savez_compressed(args.out / "reconstructions.npz", **pictures)


if __name__ == "__main__":
    main()
