"""Draw what the VAE-GAN makes of characters (the paper's Figure 7) and a map of its space (Figure 8) into docs/.

pip install pillow scikit-learn && python build/glyphs/pictures.py carry/glyphs.npz RECONSTRUCTIONS.npz CODES.npz
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.manifold import TSNE

DOCS = Path(__file__).parents[2] / "docs"


def reconstructions(path: str) -> None:
    """Pairs of lines: the character above, what was decoded from its 256 numbers below."""
    shown, made = np.load(path)["mixed"].astype(np.float32)
    across = 24
    lines = []
    for begin in range(0, len(shown), across):
        for part in (shown[begin : begin + across], made[begin : begin + across]):
            blank = np.zeros((across - len(part), 24, 24), np.float32)
            lines.append(np.concatenate([*part, *blank], 1))
        lines.append(np.zeros((4, across * 24), np.float32))
    picture = 255 - (np.concatenate(lines) * 255).astype(np.uint8)
    Image.fromarray(picture).resize((across * 36, picture.shape[0] * 3 // 2)).save(
        DOCS / "reconstructions.png", optimize=True
    )


def space(glyphs: str, path: str) -> None:
    """t-SNE of the codes of Latin, Greek, Cyrillic, Armenian and Hebrew, each character drawn at its place."""
    data, drawn = np.load(path), np.load(glyphs)
    images = drawn["images"][0][np.searchsorted(drawn["codes"], data["codes"])]
    places = TSNE(2, metric="cosine", init="pca", perplexity=15, random_state=0).fit_transform(
        data["vectors"].astype(np.float32)
    )
    places = (places - places.min(0)) / np.ptp(places, 0)
    size = 1400
    picture = np.zeros((size, size), np.uint8)
    for image, (x, y) in zip(images, places, strict=True):
        left, top = int(x * (size - 24)), int(y * (size - 24))
        spot = picture[top : top + 24, left : left + 24]
        np.maximum(spot, image, out=spot)
    Image.fromarray(255 - picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=8).save(
        DOCS / "visual-space.png", optimize=True
    )


if __name__ == "__main__":
    reconstructions(sys.argv[2])
    space(sys.argv[1], sys.argv[3])
