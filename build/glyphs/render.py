"""Draw every character of the Basic Multilingual Plane that a free font covers, as 24x24 grey images.

    python build/glyphs/render.py carry/glyphs.npz

Two views per character: sans (DejaVu Sans, then Noto Sans, Noto Sans CJK, Unifont) and serif (DejaVu Serif, then Noto Serif,
else the sans view again). Control characters, blanks, marks that sit on other characters, and characters without a glyph are
left out; so is what Unicode 14 does not know, for which Unifont draws numbered boxes.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from fontTools.ttLib import TTFont
from PIL import Image, ImageDraw, ImageFont

FONTS = Path("/usr/share/fonts")
SIZE, BASELINE, POINTS = 24, 18, 18
SANS = ["truetype/dejavu/DejaVuSans.ttf", "truetype/noto/NotoSans-Regular.ttf", "truetype/noto/NotoSans*-Regular.ttf",
        "opentype/noto/NotoSansCJK-Regular.ttc", "opentype/unifont/unifont.otf"]  # fmt: skip
SERIF = ["truetype/dejavu/DejaVuSerif.ttf", "truetype/noto/NotoSerif-Regular.ttf", "truetype/noto/NotoSerif*-Regular.ttf",
         "opentype/noto/NotoSerifCJK-Regular.ttc", *SANS]  # fmt: skip


def wanted() -> list[int]:
    return [code for code in range(0x21, 0x10000) if unicodedata.category(chr(code))[0] not in "CZM"]


def fonts(patterns: list[str]) -> Iterator[tuple[Path, set[int]]]:
    for pattern in patterns:
        for path in sorted(FONTS.glob(pattern)):
            yield path, set(TTFont(path, fontNumber=0).getBestCmap())


def draw(code: int, path: Path, cache: dict[tuple[Path, int], ImageFont.FreeTypeFont]) -> npt.NDArray[np.uint8]:
    """One glyph: centred sideways, its baseline always at the same height, smaller where it would not fit."""
    for points in range(POINTS, 5, -1):
        font = cache.setdefault((path, points), ImageFont.truetype(str(path), points))
        left, top, right, bottom = font.getbbox(chr(code), anchor="ls")
        if right - left <= SIZE and bottom - top <= SIZE:
            break
    up = min(max(BASELINE, -int(top)), SIZE - int(bottom))  # tall glyphs leave the baseline rather than the picture
    image = Image.new("L", (SIZE, SIZE))
    ImageDraw.Draw(image).text(((SIZE - (right - left)) / 2 - left, up), chr(code), 255, font, anchor="ls")
    return np.asarray(image)


def view(patterns: list[str], codes: list[int]) -> dict[int, npt.NDArray[np.uint8]]:
    out: dict[int, npt.NDArray[np.uint8]] = {}
    cache: dict[tuple[Path, int], ImageFont.FreeTypeFont] = {}
    for path, covered in fonts(patterns):
        todo = [code for code in codes if code in covered and code not in out]
        for code in todo:
            image = draw(code, path, cache)
            if image.sum() > 255:  # less than one full dot is blank
                out[code] = image
        if todo:
            print(f"{path.name}: {len(todo)}")
    return out


def main(target: str) -> None:
    codes = wanted()
    sans, serif = view(SANS, codes), view(SERIF, codes)
    found = [code for code in codes if code in sans]
    images = np.stack([[view.get(code, sans[code]) for code in found] for view in (sans, serif)])
    np.savez_compressed(target, codes=np.array(found, np.uint16), images=images)
    print(f"{len(found)} of {len(codes)} characters, {Path(target).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1])
