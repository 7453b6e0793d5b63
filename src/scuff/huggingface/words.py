"""Words that a tokenizer has cut before: the pieces of unchanged words are kept, only new words go through the tokenizer.

A text is cut at every ASCII blank. That is right where the pieces of what stands between two blanks do not depend on what stands
around them, which `reading_of` finds out from the parts of a tokenizer. In two cases a text goes through the tokenizer as a
whole: a word of it reaches across a blank (see `Words._reaches`), or several blanks stand in a row and may be pieces.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, repeat
from threading import Lock, RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..text.ragged import bounds, spread, sums
from ..text.unicode import classes
from ..text.unicode_data import PREPEND
from .templates import Cut

TURN = RLock()  # held while a tokenizer is set otherwise for a moment, which other threads would see

GUARD = "q"  # a letter that no normalizer changes or joins with its neighbours

MOST_WORDS, MOST_CHARACTERS = 1 << 18, 1 << 24  # of a table, about 100 MB; then it starts anew

# ---- which tokenizers cut words alike wherever they stand ----

# normalizers that change single characters, or characters and the marks behind them: none reaches across a blank, because a blank
# neither composes, decomposes nor takes part in the ordering of marks (UAX #15)
LOCAL = {"BertNormalizer", "NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt", "Precompiled"}
SEVERAL = " {2,}"  # the pattern of normalizers that make one blank of several
SPLITS_AT_BLANKS = {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"}  # and drops them
SPLITS_WORDS = {*SPLITS_AT_BLANKS, "Punctuation", "Digits", "ByteLevel"}


@dataclass(frozen=True)
class Reading:
    """What is to be known about a tokenizer before its texts are cut at blanks.

    free: blanks give no pieces and change none, however many there are. blank: the character that stands for a blank, beside the
    blank itself. clusters: a normalizer looks at grapheme clusters, some of which contain a blank. swallowing: numbers of added
    tokens that take the blanks behind them, or that are found when the blanks at the beginning of a text are gone.
    """

    free: bool
    blank: str = " "
    clusters: bool = False
    swallowing: frozenset[int] = frozenset()


def reading_of(backend: Any) -> Reading | None:
    """Returns how texts of a tokenizer can be cut at blanks; None if they cannot, or its parts are not known here."""
    if getattr(backend.model, "dropout", None):
        return None
    if added_tokens_hold_blanks(backend):
        return None
    between = f"{GUARD} {GUARD}"
    if (
        backend.normalizer and backend.normalizer.normalize_str(between) != between
    ):  # a `Precompiled` may change anything
        return None
    normalizers = states(backend.normalizer, "normalizers")
    splitters = states(backend.pre_tokenizer, "pretokenizers")
    if not splitters or not all(map(_is_local, normalizers)):
        return None
    clusters = any(one["type"] == "Precompiled" for one in normalizers)
    first, rest = splitters[0], splitters[1:]
    keeps = all(one.get("content") != "▁" for one in normalizers)  # else it is no blank any more
    if first["type"] in SPLITS_AT_BLANKS:
        known = all(one["type"] in SPLITS_WORDS or _marks_every_word(one) for one in rest)
        return Reading(True, clusters=clusters) if known and keeps else None
    stripped = [one for one in normalizers if one["type"] == "Strip"]
    from_left = any(one["strip_left"] for one in stripped)
    swallowing = frozenset(
        number for number, token in backend.get_added_tokens_decoder().items()
        if token.rstrip or (from_left and token.normalized)
    )  # fmt: skip
    if rest or any(not one["strip_right"] for one in stripped):
        return None
    if first["type"] == "ByteLevel":
        known = first["use_regex"] and not stripped and keeps
        return Reading(False, " ", clusters, swallowing) if known else None
    if first["type"] != "Metaspace" or not first["split"] or first["replacement"] != "▁":
        return None
    if first["prepend_scheme"] != "always" and from_left:
        return None
    return Reading(False, "▁", clusters, swallowing)


def added_tokens_hold_blanks(backend: Any) -> bool:
    """Whether a token that was added to a tokenizer, or what its normalizer makes of one, has white space in it."""
    normal = backend.normalizer
    for token in backend.get_added_tokens_decoder().values():
        forms = {token.content, normal.normalize_str(token.content) if normal else ""}
        if any(letter.isspace() or letter == "▁" for form in forms for letter in form):
            return True
    return False


def states(part: Any, members: str) -> list[dict[str, Any]]:
    """Returns the settings of a part of a tokenizer, of a sequence those of its members."""
    state = None if part is None else json.loads(part.__getstate__())
    return [] if state is None else list(_unnested(state, members))


def _unnested(state: dict[str, Any], members: str) -> Iterator[dict[str, Any]]:
    if state["type"] != "Sequence":
        yield state
        return
    for one in state[members]:
        yield from _unnested(one, members)


def _is_local(normalizer: dict[str, Any]) -> bool:
    """Whether what a normalizer does to a word does not depend on the words around it."""
    if normalizer["type"] == "Replace":
        ((kind, pattern),) = normalizer["pattern"].items()
        if kind == "Regex":
            return bool(pattern == SEVERAL and normalizer["content"] in (" ", "▁"))
        return bool(pattern) and not any(letter.isspace() or letter == GUARD for letter in pattern)
    return normalizer["type"] in LOCAL or normalizer["type"] == "Strip"


def _marks_every_word(splitter: dict[str, Any]) -> bool:
    return splitter["type"] == "Metaspace" and splitter["prepend_scheme"] == "always"


# ---- the table ----


class _Numbers(dict[str, int]):
    """The numbers of words that stand behind `before`, which is a blank or the beginning of a text; a new word gets the next."""

    def __init__(self, before: str, new: list[str], known: int) -> None:
        super().__init__()
        self.before, self.new, self.known = before, new, known

    def __missing__(self, word: str) -> int:
        self.new.append(self.before + word)
        number = self[word] = self.known + len(self.new) - 1
        return number


class Words:
    """The pieces of every word that a tokenizer has cut, as one array; several threads may use it."""

    def __init__(self, backend: Any, reading: Reading) -> None:
        self.backend, self.reading = backend, reading
        self._lock = Lock()
        self._start_anew()

    def _start_anew(self) -> None:
        self._new: list[str] = []
        self._later, self._first = _Numbers(" ", self._new, 0), _Numbers("", self._new, 0)
        self._count = self._used = self._characters = 0
        self._ids = np.empty(1 << 12, np.int64)
        self._start, self._length = np.zeros(1 << 10, np.int64), np.zeros(1 << 10, np.int64)
        self._whole = np.zeros(1 << 10, np.bool_)  # whether a text with this word must be cut as a whole

    def cut(self, texts: Sequence[str]) -> Cut:
        """Returns the pieces of texts, without marks and of any number. Raises what the tokenizer raises."""
        with self._lock:
            if self._count > MOST_WORDS or self._characters > MOST_CHARACTERS:
                self._start_anew()
            try:
                return self._cut(texts) if texts else (np.empty(0, np.int64), np.empty(0, np.int64))
            except BaseException:  # numbers without pieces would stay
                self._start_anew()
                raise

    def _cut(self, texts: Sequence[str]) -> Cut:
        count = np.fromiter(map(str.count, texts, repeat(" ")), np.int64, len(texts)) + 1
        edges = bounds(count)
        parts = [text.partition(" ") for text in texts]
        later = " ".join([rest for _, blank, rest in parts if blank]).split(" ") if edges[-1] > len(texts) else []
        number, first = np.empty(edges[-1], np.int64), np.zeros(edges[-1], np.bool_)
        first[edges[:-1]] = True
        number[~first] = np.fromiter(map(self._later.__getitem__, later), np.int64, len(later))
        number[first] = np.fromiter(map(self._first.__getitem__, [word for word, _, _ in parts]), np.int64, len(texts))
        self._learn(self._new)
        whole = self._whole[number]
        if not self.reading.free:
            inside = number == self._later.get("", -1)
            inside[edges[1:] - 1] = False
            whole |= inside
        lost = np.flatnonzero(sums(whole, edges))
        count_before, used_before = self._count, self._used
        if lost.size:  # they are put behind the table for a moment, each as one long word
            keep = np.ones(count.size, np.bool_)
            keep[lost] = False
            number = number[np.repeat(keep, count)]
            count[lost] = 1
            edges = bounds(count)
            number = np.insert(number, edges[lost] - np.arange(lost.size), self._count + np.arange(lost.size))
            self._add([texts[row] for row in lost.tolist()])
        length = self._length[number]
        flat = self._ids[spread(self._start[number], length)]
        self._count, self._used = count_before, used_before
        return flat, sums(length, edges)

    def _learn(self, new: list[str]) -> None:
        """Cuts new words, each with the blank before it, and keeps their pieces."""
        if not new:
            return
        at = self._count
        self._add(new)
        self._characters += sum(map(len, new))
        self._whole = _grown(self._whole, self._count)
        self._whole[at : self._count] = [self._reaches(word) for word in new]
        if swallowing := self.reading.swallowing:
            takes = np.isin(self._ids[self._start[at] : self._used], list(swallowing))
            self._whole[at : self._count] |= sums(takes, bounds(self._length[at : self._count])) > 0
        new.clear()
        self._later.known = self._first.known = self._count

    def _add(self, texts: list[str]) -> None:
        """Cuts texts by the tokenizer and puts their pieces at the end of the table."""
        with bare(self.backend):
            found = self.backend.encode_batch_fast(texts, add_special_tokens=False)
        length = np.fromiter(map(len, found), np.int64, len(found))
        at, end, used = self._count, self._count + len(found), self._used + int(length.sum())
        self._ids = _grown(self._ids, used)
        self._ids[self._used : used] = np.fromiter(_ids(found), np.int64, used - self._used)
        self._start, self._length = _grown(self._start, end), _grown(self._length, end)
        self._start[at:end] = self._used + bounds(length)[:-1]
        self._length[at:end] = length
        self._count, self._used = end, used

    def _reaches(self, word: str) -> bool:
        """Whether the pieces of a word (with the blank before it), or of its neighbours, may depend on the other."""
        reading, last = self.reading, word[-1:]
        if reading.clusters and last > "\x7f":
            # the blank behind it belongs to the same grapheme cluster
            code = np.frombuffer(last.encode("utf-32-le"), np.uint32)
            if int(classes(code)[0]) & 31 == PREPEND or unicodedata.category(last) == "Cf":
                return True
        if reading.free or not word.strip(" "):
            return False
        normal = self.backend.normalizer
        # between letters, which no mark joins, since at the ends of a text white space may be taken away
        seen = (normal.normalize_str(f"{GUARD}{word}{GUARD}")[1:-1] if normal else word).removeprefix(" ")
        # white space at an end and the blank beside it are one
        return not seen or any(end.isspace() or end == reading.blank for end in (seen[0], seen[-1]))


def _ids(found: list[Any]) -> Iterable[int]:
    return chain.from_iterable(row.ids for row in found)


def _grown(array: Any, least: int) -> Any:
    """Returns an array of at least this size, twice as large as before if it is too small."""
    if least <= array.size:
        return array
    out = np.zeros(max(least, 2 * array.size), array.dtype)
    out[: array.size] = array
    return out


@contextmanager
def bare(backend: Any) -> Iterator[None]:
    """Turns off truncation and padding, with which some tokenizers are stored; afterwards both are as before. One thread at a
    time.
    """
    with TURN:
        truncation, padding = backend.truncation, backend.padding
        if truncation is not None:
            backend.no_truncation()
        if padding is not None:
            backend.no_padding()
        try:
            yield
        finally:
            if truncation is not None:
                backend.enable_truncation(**truncation)
            if padding is not None:
                backend.enable_padding(**padding)


# ---- the table of each tokenizer ----

_tables: WeakKeyDictionary[Any, tuple[Any, Words | None]] = WeakKeyDictionary()
OF_MODEL = (
    "dropout", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "end_of_word_suffix", "fuse_unk",
    "byte_fallback", "ignore_merges",
)  # fmt: skip
SAMPLE = 16  # pieces of a vocabulary by which another one is told: reading all of them takes too long


def backend_of(tokenizer: Any) -> Any:
    """Returns what cuts the texts of a fast tokenizer, set as `tokenizer(...)` sets it each time."""
    backend, splits = tokenizer.backend_tokenizer, bool(getattr(tokenizer, "split_special_tokens", False))
    if backend.encode_special_tokens != splits:
        with TURN:
            backend.encode_special_tokens = splits
    return backend


def _settings(backend: Any) -> tuple[Any, ...] | None:
    """All that decides which pieces a word has; None if a part is written in Python, which tells nothing of itself."""
    try:
        parts = [part and part.__getstate__() for part in (backend.normalizer, backend.pre_tokenizer)]
    except Exception:  # the tokenizers library raises nothing more exact
        return None
    size, model = backend.get_vocab_size(), backend.model
    some = map(backend.id_to_token, range(0, size, max(1, size // SAMPLE)))
    own = [getattr(model, name, None) for name in OF_MODEL]
    added = repr(backend.get_added_tokens_decoder())
    return backend, type(model), size, *some, *own, backend.encode_special_tokens, added, *parts


def words_of(tokenizer: Any) -> Words | None:
    """Returns the table of a fast tokenizer; None if its texts cannot be cut at blanks.

    It starts anew when tokens were added or the tokenizer was set otherwise.
    """
    backend = backend_of(tokenizer)
    now = _settings(backend)
    if now is None:
        return None
    before, table = _tables.get(tokenizer, (None, None))
    if before != now:
        reading = reading_of(backend)
        table = None if reading is None else Words(backend, reading)
        _tables[tokenizer] = now, table
    return table
