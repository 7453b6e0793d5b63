"""Texts whose characters stand in another order than they are read in: overridden directions, and text turned upside down."""

from __future__ import annotations

import numpy as np

from ...text.edits import Edits
from ...text.ragged import Ints, Mask, Ragged, sums
from ..lexicon import lexicon
from .invisible import DIRECTION, STYLE
from .look_alikes import LEFTWARD, look_alikes

TURNED = dict(zip("ɐqɔpǝɟƃɓɥᴉıɾʞʃlɯuodbɹsʇnʌʍxʎz¡¿˙'‘„", 'abcdefgghiijkllmnopqrstuvwxyz!?.,,"', strict=True))
TURNED |= dict(zip("∀ꓭƆᗡƎℲ⅁פHIſʞ˥WNOԀΌᴚS┴∩ΛMX⅄Z", "ABCDEFGGHIJKLMNOPQRSTUVWXYZ", strict=True))
SURE = "ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ∀ƎℲ⅁˥Ԁᴚ┴⅄"  # letters that hardly stand upright anywhere but in phonetic script
_SURE = np.isin(np.arange(max(map(ord, SURE)) + 2), [ord(char) for char in SURE])
OPENS, RLO, LRO, PDF, PDI = "\u202a\u202b\u202d\u202e\u2066\u2067\u2068", "\u202e", "\u202d", "\u202c", "\u2069"
ISOLATES = "\u2066\u2067\u2068"


def mend_order(texts: Ragged) -> tuple[Edits, Ints]:
    """Whole texts in the order in which they are read, and the number of the kind of each."""
    rows: list[int] = []
    new: list[str] = []
    kind: list[int] = []
    forced = (texts.codes == ord(RLO)) | (texts.codes == ord(LRO))
    for row in np.flatnonzero(sums(forced, texts.offsets) > 0).tolist() if forced.any() else ():
        part = texts.codes[texts.offsets[row] : texts.offsets[row + 1]]
        if not (look_alikes().script[part] == LEFTWARD).any():
            rows.append(row)
            new.append(_shown(texts.take(np.array([row])).strings()[0]))
            kind.append(DIRECTION)
    far = texts.codes.max(initial=0) > 0x24F
    sure = _SURE[np.minimum(texts.codes, _SURE.size - 1)] if far else np.empty(0, np.bool_)
    if sure.any():
        for row, upright in _upright(texts, sure):
            if row not in rows:
                rows.append(row)
                new.append(upright)
                kind.append(STYLE)
    order = np.argsort(np.array(rows, np.int64), kind="stable")
    row = np.array(rows, np.int64)[order]
    text = Ragged.of([new[number] for number in order.tolist()])
    zero = np.zeros_like(row)
    return Edits(row, zero, texts.lengths[row], text, zero, text.lengths), np.array(kind, np.int64)[order]


def _upright(texts: Ragged, sure: Mask) -> list[tuple[int, str]]:
    """Texts that are turned upside down, turned back: many turned letters, and what they say is English."""
    out: list[tuple[int, str]] = []
    letters = np.maximum(texts.lengths, 1)
    many = np.flatnonzero((sums(sure, texts.offsets) > 2) & (sums(sure, texts.offsets) * 5 > letters))
    for row, text in zip(many.tolist(), texts.take(many).strings(), strict=True):
        turned = "".join(TURNED.get(char, char) for char in reversed(text))
        words = [word.strip(".,!?\"'") for word in turned.split()]
        known = lexicon().number(Ragged.of(words)) >= 0
        if known.size and known.mean() > 0.5:
            out.append((row, turned))
    return out


def _shown(text: str) -> str:
    """A text of left-to-right letters as overrides make it appear, without the characters that change directions (UAX #9)."""
    root: list[object] = []
    stack: list[tuple[str, list[object]]] = [("", root)]
    for char in text:
        if char in OPENS:
            inner: list[object] = []
            stack[-1][1].append((char, inner))
            stack.append((char, inner))
        elif char in (PDF, PDI):
            closes = ISOLATES if char == PDI else "\u202a\u202b\u202d\u202e"
            if char == PDI:  # an isolate closes all that was opened inside it
                while len(stack) > 1 and stack[-1][0] not in closes and any(name in closes for name, _ in stack[1:]):
                    stack.pop()
            if len(stack) > 1 and stack[-1][0] in closes:
                stack.pop()
        else:
            stack[-1][1].append(char)
    return _flat(root, False)


def _flat(parts: list[object], leftward: bool) -> str:
    out: list[str] = []
    for part in parts:
        if isinstance(part, tuple):
            # an isolate or override inside sets the order of what it holds, and is one piece outside
            out.append(_flat(part[1], part[0] == RLO))
        else:
            out.append(str(part))
    return "".join(reversed(out) if leftward else out)
