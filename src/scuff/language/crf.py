"""Linear-chain conditional random fields in CRFsuite's file format, applied to many sentences at once with arrays.

The library CRFsuite takes most of its time for turning features into strings and looking these up, once for every place in which
a word is seen. Here the scores that a word gives to the tags around it are added up once per word.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..text.ragged import Ints, bounds

Scores = npt.NDArray[np.float32]
PLACES = {"-1:": 1, "-2:": 2, "+1:": 3, "+2:": 4}  # a word's features count for its own tag (0) and for four around it
SHIFTS = {1: 1, 2: 2, 3: -1, 4: -2}  # how far these stand after the word
FEATURE = np.dtype([("kind", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
TOGETHER = 256  # sentences that take their steps at the same time: few enough for the processor's cache


@dataclass(frozen=True, eq=False)
class Crf:
    """`entry` numbers the features without their place, weight[entry] are scores per place and label."""

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
        weight = np.zeros(
            (len(entry) + 1, 1 + len(PLACES), len(labels)), np.float32
        )  # entry 0: unknown, without effect
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
        for begin in range(0, order.size, TOGETHER):
            rows = order[begin : begin + TOGETHER]
            self._viterbi(scores, edges[rows], lengths[rows], labels)
        return labels

    def _viterbi(self, scores: Scores, first: Ints, lengths: Ints, labels: Ints) -> None:
        """Write the best labels of some sentences, the longest of them first."""
        going = np.searchsorted(-lengths, -np.arange(lengths[0]), "left")  # sentences longer than each step
        running = [scores[first].T]  # sentences along the last axis: long runs for the processor
        for step in range(1, going.size):
            before = running[-1][:, None, : going[step]] + self.transition[:, :, None]
            running.append(before.max(0) + scores[first[: going[step]] + step].T)
        chosen = np.empty(0, np.int64)
        # which label came before the chosen one is found again, not remembered
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
