"""Learn the visual space: a VAE-GAN (Larsen et al. 2016) on all rendered characters, and neighbours in it and in raw pixels.

    python build/glyphs/train.py carry/glyphs.npz OUT [--epochs 60] [--variants mixed]

| variant | pictures | loss |
|---|---|---|
| mixed (shipped) | in: a shifted, blurred or noisy picture of either font; out: the clean sans one, so that the code holds the shape | features, pixels, GAN |
| pixel | each sans picture reproduces itself | features, pixels, GAN |
| paper | the same, with max-pooling: as the thesis has it (section 3.2.2) | features, GAN (paper.py) |
| strided | the same, without max-pooling | features, GAN (paper.py) |

Writes neighbours-*.npz (the 40 nearest of each character, with cosines), outcome-*.json (losses, how well pictures are reconstructed),
reconstructions.npz and codes-*.npz (for the pictures).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import paper
import torch
import torch.nn.functional as F
from networks import Decoder, Discriminator, Encoder
from torch import Tensor

NEIGHBOURS = 40
VARIANTS = ("mixed", "pixel", "paper", "strided")
SHOWN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!?&@#éñüßøÅжЯщфΩαβשלمनमिक한漢字あカไ"


def spoiled(images: Tensor, random: torch.Generator) -> Tensor:
    """Shift by up to a dot, blur or thin a little, add noise."""
    dx, dy = (int(torch.randint(-1, 2, (1,), generator=random, device=images.device)) for _ in range(2))
    out = torch.roll(images, (dx, dy), (2, 3))
    amount = torch.rand(images.shape[0], 1, 1, 1, generator=random, device=images.device) * 0.6
    out = out * (1 - amount) + F.avg_pool2d(out, 3, 1, 1) * amount
    return (out + 0.05 * torch.randn(out.shape, generator=random, device=images.device)).clamp(0, 1)


def train(images: Tensor, mixed: bool, epochs: int, seed: int) -> tuple[Encoder, Decoder, list[dict[str, Any]]]:
    """images: (views, characters, 24, 24) in [0, 1]. Returns the networks and the losses on the way."""
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
    history: list[dict[str, Any]] = []
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
            losses = (totals / (count // 256)).tolist()
            history.append({"epoch": epoch + 1, **dict(zip(("llike", "pixels", "gan", "prior"), losses, strict=True))})
            shown = ", ".join(f"{x:.3f}" for x in losses)
            print(
                f"{'mixed' if mixed else 'pixel'} epoch {epoch + 1}: likeness, pixels, judge, prior {shown}; {time.time() - begin:.0f} s",
                flush=True,
            )
    return encoder.eval(), decoder.eval(), history


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


@torch.no_grad()
def quality(encoder: Encoder, decoder: Decoder, images: Tensor) -> dict[str, float | int | bool]:
    """How well the sans pictures come back from their mean codes: the share of their variance that is lost, and dimensions in use.

    A model that draws the mean picture for every character loses all of it: it has collapsed.
    """
    codes = torch.cat([encoder(part.unsqueeze(1))[0] for part in images.split(4096)])
    made = torch.cat([decoder(part).squeeze(1) for part in codes.split(4096)])
    lost = float((made - images).square().mean() / (images - images.mean(0)).square().mean())
    active = int((codes.var(0) > 0.01).sum())
    return {"lost": lost, "active": active, "collapsed": not lost < 0.9 or active < 8}


def learn(variant: str, images: Tensor, args: argparse.Namespace) -> tuple[Encoder, Decoder, list[dict[str, Any]]]:
    if variant in ("mixed", "pixel"):
        mixed = variant == "mixed"
        return train(images if mixed else images[:1], mixed, args.epochs, args.seed)
    pooled = variant == "paper"
    return paper.train(images[0], pooled=pooled, gamma=args.gamma, epochs=args.epochs, seed=args.seed, name=variant)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("glyphs")
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--variants", nargs="*", choices=VARIANTS, default=["mixed"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--gamma", type=float, default=0.01, help="paper, strided: weight of the features for the decoder"
    )
    parser.add_argument("--limit", type=int, help="only the first characters, to try this script")
    parser.add_argument("--sample", type=int, help="train only on so many characters, drawn at random")
    parser.add_argument("--held-out", type=int, default=0, help="so many others are reconstructed, not trained on")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.backends.cudnn.benchmark = True
    data = np.load(args.glyphs)
    order = np.random.default_rng(0).permutation(len(data["codes"][: args.limit]))
    held_out, chosen = order[: args.held_out], np.sort(order[args.held_out :][: args.sample])
    codes = data["codes"][chosen]
    everything = torch.from_numpy(data["images"])
    images = everything[:, chosen].to(device).float() / 255
    others = everything[0, held_out].to(device).float() / 255

    def save(name: str, vectors: Tensor) -> None:
        near, likeness = nearest(vectors)
        np.savez_compressed(args.out / f"neighbours-{name}.npz", codes=codes, near=codes[near], likeness=likeness)

    save("ices", images[0].flatten(1))
    pictures = {}
    for name in args.variants:
        begin = time.time()
        encoder, decoder, history = learn(name, images, args)
        outcome = {"variant": name, "seed": args.seed, "epochs": args.epochs, "characters": len(codes)}
        outcome |= {"seconds": time.time() - begin, "history": history, "trained": quality(encoder, decoder, images[0])}
        outcome |= {"gamma": args.gamma} if name in ("paper", "strided") else {}
        outcome |= {"held out": quality(encoder, decoder, others)} if len(others) else {}
        (args.out / f"outcome-{name}.json").write_text(json.dumps(outcome, indent=1))
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
