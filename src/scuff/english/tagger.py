"""Part-of-speech tags of English sentences, by the conditional random field that ships with gruut."""

from __future__ import annotations

import struct
from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from string import punctuation
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..resources import package_file
from ..text.corpus import Corpus
from ..text.ragged import Ints, bounds
from .inflection import FAMILY, possible_tags
from .tokens import sentences

Scores = npt.NDArray[np.float32]
# ---- the conditional random field ----

PLACES = {"-1:": 1, "-2:": 2, "+1:": 3, "+2:": 4}  # a word's features count for its own tag (0) and for four around it
SHIFTS = {1: 1, 2: 2, 3: -1, 4: -2}  # how far behind the word each of these stands
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
SENTENCES_TOGETHER = 256  # sentences that take their steps at the same time: few enough for the processor's cache


@dataclass(frozen=True, eq=False)
class Crf:
    """A model of CRFsuite. `entry` numbers the features without their place, weight[entry] are scores per place and label."""

    labels: list[str]
    entry: dict[str, int]
    weight: Scores
    transition: Scores

    @classmethod
    def read(cls, data: bytes) -> Crf:
        """From the bytes of a model file."""
        if data[:4] != b"lCRF" or data[8:12] != b"FOMC":
            raise ValueError("expected a CRFsuite model, got another kind of file")
        at_features, at_labels, at_attributes = struct.unpack_from("<3I", data, 28)
        labels, attributes = _names(data, at_labels), _names(data, at_attributes)
        (count,) = struct.unpack_from("<I", data, at_features + 8)
        features = np.frombuffer(data, FEATURE, count, at_features + 12)
        entry: dict[str, int] = {}
        place, number = [], []
        for name in attributes:
            found = PLACES.get(name[:3], 0)
            place.append(found)
            number.append(entry.setdefault(name[3:] if found else name, len(entry) + 1))
        shape = (len(entry) + 1, 1 + len(PLACES), len(labels))  # entry 0: an unknown feature, without effect
        weight = np.zeros(shape, np.float32)
        transition = np.zeros((len(labels), len(labels)), np.float32)
        state, step = features[features["kind"] == 0], features[features["kind"] == 1]
        source = state["source"]
        weight[np.array(number)[source], np.array(place)[source], state["target"]] = state["weight"]
        transition[step["source"], step["target"]] = step["weight"]
        return cls(labels, entry, weight, transition)

    def tag(self, entries: Ints, values: Scores, lean: Scores, words: Ints, lengths: Ints) -> Ints:
        """The best labels of sentences of these lengths, at least 1 each, that consist of `words`, one after the other.

        Word i has the features entries[i], whose values are values[i]; lean[i] is added to the scores of its labels.
        """
        per_word = np.zeros((len(entries), *self.weight.shape[1:]), np.float32)
        for entry, value in zip(entries.T, values.T, strict=True):
            per_word += self.weight[entry] * value[:, None, None]
        per_word[:, 0] += lean
        scores = per_word[words, 0]
        sentence = np.repeat(np.arange(lengths.size), lengths)
        for place, shift in SHIFTS.items():
            tag, word = (slice(shift, None), slice(-shift)) if shift > 0 else (slice(shift), slice(-shift, None))
            same = sentence[tag] == sentence[word]
            scores[tag][same] += per_word[words[word][same], place]
        edges = bounds(lengths)
        for name, at in (("BOS", edges[:-1]), ("EOS", edges[1:] - 1)):
            scores[at] += self.weight[self.entry.get(name, 0), 0]
        labels = np.zeros(words.size, np.int64)
        order = np.argsort(-lengths, kind="stable")
        for begin in range(0, order.size, SENTENCES_TOGETHER):
            rows = order[begin : begin + SENTENCES_TOGETHER]
            self._viterbi(scores, edges[rows], lengths[rows], labels)
        return labels

    def _viterbi(self, scores: Scores, first: Ints, lengths: Ints, labels: Ints) -> None:
        """Writes the best labels of some sentences, which are sorted by length, the longest first, into `labels`."""
        going = np.searchsorted(-lengths, -np.arange(lengths[0]), "left")  # sentences longer than each step
        running = [scores[first].T]  # sentences along the last axis: long runs for the processor
        for step in range(1, going.size):
            before = running[-1][:, None, : going[step]] + self.transition[:, :, None]
            running.append(before.max(0) + scores[first[: going[step]] + step].T)
        chosen = np.empty(0, np.int64)
        # which label came before the chosen one is computed again, not stored
        for step in reversed(range(going.size)):
            running[step][:, : chosen.size] += self.transition[:, chosen]
            chosen = running[step].argmax(0)
            labels[first[: going[step]] + step] = chosen


def _names(data: bytes, at: int) -> list[str]:
    """The strings of a constant quark database (CQDB), by number."""
    size, place = struct.unpack_from("<2I", data, at + 16)
    names = []
    for offset in np.frombuffer(data, "<u4", size, at + place).tolist():
        (length,) = struct.unpack_from("<I", data, at + offset + 4)
        names.append(data[at + offset + 8 : at + offset + 7 + length].decode("utf-8", "replace"))
    return names


# ---- texts and their tags ----

WORD = 4  # the place of the feature that is the word itself
REMEMBERED = 4_000_000  # characters of texts whose tags are kept
AGAINST = (4, 2)  # what a tag that the dictionary lacks costs, for words that the model does not and does know
TOGETHER = 20_000  # tokens that are tagged together: enough to be fast, few enough for the memory
TYPED = str.maketrans("’‘“”", "''\"\"")  # the treebank has nearly no curly quotes

UNIVERSAL = {
    "CC": "CCONJ", "CD": "NUM", "DT": "DET", "EX": "PRON", "FW": "X", "IN": "ADP", "JJ": "ADJ", "JJR": "ADJ", "JJS": "ADJ",
    "LS": "X", "MD": "AUX", "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "NNPS": "PROPN", "PDT": "DET", "POS": "PART",
    "PRP": "PRON", "PRP$": "PRON", "RB": "ADV", "RBR": "ADV", "RBS": "ADV", "RP": "ADP", "SYM": "SYM", "TO": "PART",
    "UH": "INTJ", "VB": "VERB", "VBD": "VERB", "VBG": "VERB", "VBN": "VERB", "VBP": "VERB", "VBZ": "VERB", "WDT": "PRON",
    "WP": "PRON", "WP$": "PRON", "WRB": "ADV", "$": "SYM", "#": "SYM", ".": "PUNCT", ",": "PUNCT", ":": "PUNCT",
    "``": "PUNCT", "''": "PUNCT", "-LRB-": "PUNCT", "-RRB-": "PUNCT", "-LSB-": "PUNCT", "-RSB-": "PUNCT", "HYPH": "PUNCT",
    "NFP": "PUNCT", "ADD": "X", "AFX": "X", "GW": "X", "XX": "X",
}  # fmt: skip


class Token(NamedTuple):
    """A token: text[start:stop], its Penn Treebank tag, and the number of its sentence in the text."""

    start: int
    stop: int
    text: str
    tag: str
    sentence: int


_remembered: OrderedDict[str, list[Token]] = OrderedDict()


def tagged(texts: Sequence[str]) -> list[list[Token]]:
    """The tokens of each text, with tags."""
    result = {text: _remembered.get(text, []) for text in texts}
    new = [text for text in result if text not in _remembered]
    cut = [sentences(text) for text in new]
    tags = iter(
        tag_words(
            [_calm([text[a:b] for a, b in spans]) for text, parts in zip(new, cut, strict=True) for spans in parts]
        )
    )
    for text, parts in zip(new, cut, strict=True):
        result[text] = _remembered[text] = [
            Token(a, b, text[a:b], tag, number)
            for number, spans in enumerate(parts)
            for (a, b), tag in zip(spans, next(tags), strict=True)
        ]
    for text in result:
        _remembered.move_to_end(text)
    size = sum(map(len, _remembered)) if new else 0
    while size > REMEMBERED:
        size -= len(_remembered.popitem(last=False)[0])
    return [result[text] for text in texts]


def _calm(words: list[str]) -> list[str]:
    """The words in lower case if all are in capitals, which the model would take for names."""
    return [word.lower() for word in words] if len(words) > 3 and "".join(words).isupper() else words


def tag_words(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    """The tags of sentences that are cut into tokens already."""
    edges = bounds(np.array([len(words) for words in sentences], np.int64))
    group = edges[:-1] // TOGETHER  # sentences of one group are tagged together
    starts = [*np.flatnonzero(np.diff(group, prepend=-1)).tolist(), len(sentences)]
    tags = [
        tag
        for a, b in pairwise(starts)
        for tag in _tag([word for each in sentences[a:b] for word in each], edges[a : b + 1])
    ]
    return [tags[a:b] for a, b in pairwise(edges.tolist())]


def _tag(words: list[str], edges: Ints) -> list[str]:
    """The tags of the words of some sentences; `edges` are where these begin and end."""
    lengths = np.diff(edges)
    number: dict[str, int] = {}
    which = np.array([number.setdefault(word, len(number)) for word in words], np.int64)
    if not words:
        return []
    features = [_features(word) for word in number]
    entries = np.array([entry for entry, _ in features])
    values = np.ones(entries.shape, np.float32)
    values[:, :3] = [value for _, value in features]
    lean = np.array(
        [_against(possible_tags(word), bool(entry[WORD])) for word, entry in zip(number, entries, strict=True)]
    )
    model = _model()
    return [model.labels[label] for label in model.tag(entries, values, lean, which, lengths[lengths > 0]).tolist()]


@lru_cache(100_000)
def _features(word: str) -> tuple[tuple[int, ...], tuple[float, float, float]]:
    """gruut's features of a word, and the values of the first three; that of the others is 1."""
    entry = _model().entry
    typed = word.translate(TYPED)
    code = b64encode(typed.encode(errors="replace")).decode()
    names = ["len(word)", "word.ispunctuation", "word.isdigit()", "bias", f"word:{code}"]
    names += [f"word[:2]:{typed[:2]}", f"word[:3]:{typed[:3]}", f"word[-2:]:{typed[-2:]}", f"word[-3:]:{typed[-3:]}"]
    return tuple(entry.get(name, 0) for name in names), (len(typed), typed in punctuation, typed.isdigit())


def in_training(word: str) -> bool:
    """Whether the texts that the model was trained on have a word, written like this."""
    return _features(word)[0][WORD] > 0


@lru_cache(10_000)
def _against(possible: frozenset[str], known: bool) -> npt.NDArray[np.float32]:
    """Scores against tags that the dictionary lacks for a word. Without them the model takes "funniest" for a noun."""
    missing = FAMILY.keys() - possible if possible else ()
    return np.array([-AGAINST[known] if label in missing else 0 for label in _model().labels], np.float32)


@cache
def _model() -> Crf:
    """gruut's model; raises MissingResource if its package is not installed."""
    return Crf.read(package_file("gruut-lang-en", "gruut_lang_en/pos/model.crf", extra="english").read_bytes())


def word_tags(corpus: Corpus) -> list[str]:
    """The tag of each of corpus.words: of the first part of a contraction, of the part after the last hyphen."""
    words, tags = corpus.words, []
    row, start = corpus.place(words.row, words.start)
    edges = np.searchsorted(row, np.arange(len(corpus) + 1)).tolist()
    stop = (start + words.stop - words.start).tolist()
    start = start.tolist()
    for tokens, (low, high) in zip(tagged(corpus.strings()), pairwise(edges), strict=True):
        begins, ends = [token.start for token in tokens], [token.stop for token in tokens]
        for at in range(low, high):
            first, last = bisect_right(ends, start[at]), bisect_left(begins, stop[at])
            hyphens = [place for place in range(first, last - 1) if tokens[place].tag == "HYPH"]
            tags.append(tokens[hyphens[-1] + 1 if hyphens else first].tag if first < last else "XX")
    return tags
