"""The VAE-GAN as Larsen et al. (2016) train it, Algorithm 1: no loss on pixels.

Two pictures are as far apart as the third layer of the discriminator sees them. For pictures x, their reconstructions x~ and pictures
x_p dreamt from the prior:

    L_prior  KL divergence of the codes from N(0, I)
    L_llike  -log N(Dis_l(x~); Dis_l(x), I): half the sum of squared differences of the features
    L_GAN    -log Dis(x) - log(1 - Dis(x~)) - log(1 - Dis(x_p))

    the encoder minimises        L_prior + L_llike
    decoder and generator        gamma * L_llike - L_GAN
    the discriminator            L_GAN

RMSProp at 3e-4 as there, lowered to nothing over the last half; batches of 256 (there 64). Where the thesis says nothing (gamma, number of steps) we choose:
gamma by how well characters that were not trained on are reconstructed (compare.py).
"""

from __future__ import annotations

import time
from typing import Any

import torch
import torch.nn.functional as F
from networks import LATENT, Decoder, Discriminator, Encoder
from torch import Tensor

BATCH, RATE = 256, 3e-4
WINNING = 0.28  # a discriminator with a lower loss per verdict wins too often to teach anything; it waits


def set_gradients(
    x: Tensor, noise: Tensor, encoder: Encoder, decoder: Decoder, judge: Discriminator, gamma: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sets the gradients of all networks; returns L_prior, L_llike, L_GAN and the error of the pixels, which is only watched."""
    size = len(x)
    mean, spread = encoder(x)
    made = decoder(torch.cat([mean + torch.exp(spread / 2) * noise[0], noise[1]]))  # x~ and x_p
    features, verdict = judge(torch.cat([x, made]))
    prior = -0.5 * (1 + spread - mean**2 - spread.exp()).sum(1).mean()
    llike = 0.5 * (features[size : 2 * size] - features[:size].detach()).square().flatten(1).sum(1).mean()
    real = torch.zeros_like(verdict)
    real[:size] = 1
    gan = 3 * F.binary_cross_entropy_with_logits(verdict, real)

    parts = [list(part.parameters()) for part in (encoder, decoder, judge)]
    toward = iter(torch.autograd.grad(prior + llike, parts[0] + parts[1], retain_graph=True))
    against = iter(torch.autograd.grad(gan, parts[1] + parts[2]))
    for parameter in parts[0]:
        parameter.grad = next(toward)
    for parameter in parts[1]:
        parameter.grad = gamma * next(toward) - next(against)
    for parameter in parts[2]:
        parameter.grad = next(against)
    return prior.detach(), llike.detach(), gan.detach(), F.mse_loss(made[:size], x).detach()


def train(
    images: Tensor, *, pooled: bool, gamma: float, epochs: int, seed: int, name: str
) -> tuple[Encoder, Decoder, list[dict[str, Any]]]:
    """images: (characters, 24, 24) in [0, 1]. Returns the networks and the losses on the way."""
    torch.manual_seed(seed)
    device = images.device
    random = torch.Generator(device).manual_seed(seed)
    encoder, decoder = Encoder(pooled).to(device), Decoder(pooled).to(device)
    judge = Discriminator().to(device)
    optimizers = [torch.optim.RMSprop(part.parameters(), RATE, 0.9) for part in (encoder, decoder, judge)]
    per_epoch = max(1, len(images) // BATCH)
    steps = epochs * per_epoch
    warm = min(200, steps // 10 + 1)  # RMSProp's first steps are its longest
    at = 0
    history: list[dict[str, Any]] = []
    begin = time.time()
    for epoch in range(epochs):
        totals, taught = torch.zeros(4, device=device), 0
        order = torch.randperm(len(images), generator=random, device=device)
        for batch in order[: per_epoch * BATCH].split(BATCH):
            x = images[batch].unsqueeze(1)
            noise = torch.randn((2, len(x), LATENT), generator=random, device=device)
            prior, llike, gan, pixels = set_gradients(x, noise, encoder, decoder, judge, gamma)
            teaching = bool(gan > 3 * WINNING)
            for optimizer in optimizers if teaching else optimizers[:2]:
                optimizer.param_groups[0]["lr"] = RATE * min(1.0, (at + 1) / warm, 2 * (1 - at / steps))
                optimizer.step()
            at += 1
            taught += teaching
            totals += torch.stack([prior, llike, gan, pixels])
        losses = dict(zip(("prior", "llike", "gan", "pixels"), (totals / per_epoch).tolist(), strict=True))
        if not all(value == value and abs(value) < 1e9 for value in losses.values()):
            raise RuntimeError(f"{name} diverged in epoch {epoch + 1}: {losses}")
        if epoch % 5 == 4 or epoch == epochs - 1 or epoch == 0:
            history.append({"epoch": epoch + 1, **losses, "judge taught": taught / per_epoch})
            shown = ", ".join(f"{key} {value:.3f}" for key, value in history[-1].items())
            print(f"{name} {shown}; {time.time() - begin:.0f} s", flush=True)
    return encoder.eval(), decoder.eval(), history
