"""Adversarial sources for the training of translators, made on the fly: one-shot substitutions (Michel et al. 2019, section 5).

The paper's attack takes the best substitution, computes the gradient again, and so on. In training it takes the best few places
at once. Gradients are taken without dropout, of eq. (4).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..text.ragged import Ints, Mask, bounds, spread
from ..translators.network import Batch, adversarial_loss
from ..translators.translator import Translator
from ..translators.vocabulary import END, PAD, UNKNOWN, split
from ..victims.substitution import MAX_SCRAMBLING, Vocabulary, gains, make_oov, signs

KINDS = ("vocabulary", "swaps")  # Unconstrained, CharSwap

ENTRIES = 1 << 27  # places x pieces of gains at once


class AdversarialSources:
    """Substitutes pieces of source batches. kind: any piece of the same kind, or swapped letters. count: places of a text.

    Swaps of a word model put <unk> there, since that is what it sees of them. Swaps of a subword model swap letters within the
    piece and cut the word again; `texts` and `rows` are the training sources then, of which every word gets its swaps once.
    """

    def __init__(
        self, translator: Translator, kind: str, count: int = 3, *, texts: Any = (), rows: Any = (), seed: int = 0
    ) -> None:
        if kind not in KINDS:
            raise ValueError(f"expected one of {', '.join(KINDS)} for adversarial, got {kind!r}")
        self.network, self.kind, self.count = translator.network, kind, count
        source, device = translator.source, translator.device
        vocabulary = Vocabulary(source.surfaces, source.begins, source.unknown, translator.vectors())
        kinds = vocabulary.kinds.copy()
        kinds[UNKNOWN] = 1 if source.kind == "words" else 0  # a word, or a letter within one
        self.proposable = torch.from_numpy(vocabulary.proposable).to(device)
        self.kinds = torch.from_numpy(kinds).to(device)
        self.resegment = None
        if kind == "swaps" and source.kind == "bpe":
            self.resegment = Resegmentation(translator, vocabulary, texts, rows, seed)
        swappable = vocabulary.proposable & (
            kinds < 2 if self.resegment else kinds == 1
        )  # words only, as in the attack
        self.swappable = torch.from_numpy(swappable).to(device)

    def places(self, batch: Batch, target: Any, wanted: Ints) -> tuple[Any, Any]:
        """The `count` best places of each row, and the best piece of each: bool[rows, places], int64[rows, places].

        wanted: the pieces of each row's target. Rows of batches of several lengths may come together, so scores are computed only
        where a piece stands, not where padding does.
        """
        network, device = self.network, batch.ids.device
        width = target.shape[1] - 1
        real = sent(spread(np.arange(len(wanted)) * width, wanted), device)
        with network.steady(), torch.enable_grad():
            embedded = network.embed(batch.ids).detach().requires_grad_()
            vectors = network.decode(target[:, :-1], network.encode(embedded, batch)).flatten(0, 1)[real]
            loss = adversarial_loss(network.output(vectors), target[:, 1:].flatten()[real])
            slopes = torch.autograd.grad(loss, embedded)[0]
        with torch.no_grad():
            table = network.vectors()
            length = batch.lengths.numpy()
            filled = sent(spread(np.arange(len(length)) * batch.ids.shape[1], length), device)
            ids = batch.ids.flatten()
            best, new = (self._swap if self.kind == "swaps" else self._best)(
                table, ids[filled], slopes.flatten(0, 1)[filled]
            )
            gain = torch.full(ids.shape, -torch.inf, device=device, dtype=best.dtype).scatter(0, filled, best)
            gain, piece = (
                gain.view(batch.ids.shape),
                torch.zeros_like(ids).scatter(0, filled, new).view(batch.ids.shape),
            )
            found, place = gain.topk(min(self.count, gain.shape[1]), 1)
            chosen = torch.zeros_like(batch.ids, dtype=torch.bool).scatter(1, place, found > -torch.inf)
        return chosen, piece

    def _best(self, vectors: Any, ids: Any, slopes: Any) -> tuple[Any, Any]:
        """The highest gain at each place and its piece, of those of the same kind."""
        step = max(1, ENTRIES // len(vectors))
        parts = []
        for at in range(0, len(ids), step):
            here = ids[at : at + step]
            gain = gains(vectors, here, slopes[at : at + step], sign=True)
            allowed = (self.kinds[here][..., None] == self.kinds) & self.proposable
            gain.masked_fill_(~allowed, -torch.inf).scatter_(-1, here[..., None], -torch.inf)
            parts.append(gain.max(-1))
        gain, piece = (torch.cat(both) for both in zip(*parts, strict=True))
        return gain.masked_fill((ids == PAD) | (ids == END), -torch.inf), piece

    def _swap(self, vectors: Any, ids: Any, slopes: Any) -> tuple[Any, Any]:
        """What <unk> gains at each place: its column of `gains`."""
        gain = (signs(slopes) * (vectors[UNKNOWN] - vectors[ids])).sum(-1)
        return gain.masked_fill(~self.swappable[ids], -torch.inf), torch.full_like(ids, UNKNOWN)


def sent(array: Ints, device: Any) -> Any:
    """An array on the device; the copy does not wait for it."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


class Resegmentation:
    """The pieces of every word of the training sources after letters were swapped within one of its pieces.

    The places of row r are edges[r] to edges[r + 1]; each has a `word`, counted within the row, and an `entry`: its swap. The
    word that swap e makes has the pieces flat[begin[e] : begin[e + 1]].
    """

    def __init__(self, translator: Translator, vocabulary: Vocabulary, texts: Any, rows: Any, seed: int) -> None:
        source, rng = translator.source, np.random.default_rng([seed, 1])
        number: dict[tuple[str, int], int] = {}
        pieces: list[list[int]] = []

        def swap(text: str, begin: int, end: int, start: int, stop: int) -> list[int]:
            made = make_oov(text[start:stop], vocabulary, rng.random(MAX_SCRAMBLING).tolist())
            word = text[begin:start] + made + text[stop:end]
            return [piece for part, _, _ in split(word) for piece, _, _ in source.cut(part, 0, len(part))]

        entries, words_of = [], []
        for text, row in zip(texts, rows, strict=True):
            words = split(text)
            of_piece = np.searchsorted([begin for _, begin, _ in words], row.start, "right") - 1
            for at, start, stop in zip(of_piece.tolist(), row.start.tolist(), row.stop.tolist(), strict=True):
                whole, begin, end = words[at]
                key = whole, start - begin
                if key not in number:
                    number[key] = len(pieces)
                    pieces.append(swap(text, begin, end, start, stop))
                entries.append(number[key])
            words_of.append(of_piece)
        self.edges = bounds(np.array([len(row.ids) for row in rows], np.int64))
        self.entry, self.word = np.array(entries, np.int64), np.concatenate([*words_of, np.empty(0, np.int64)])
        self.begin = bounds(np.array([len(part) for part in pieces], np.int64))
        self.flat = np.array([piece for part in pieces for piece in part], np.int64)

    def splice(self, rows: Ints, ids: npt.NDArray[np.int64], chosen: Mask) -> list[Ints]:
        """The rows with the chosen places swapped, END left out; of two places in one word only the first is."""
        count = np.diff(self.edges)[rows]
        here = spread(self.edges[rows], count)
        row, inside = np.repeat(np.arange(len(rows)), count), spread(np.zeros_like(count), count)
        word = row * (1 + self.word.max(initial=0)) + self.word[here]  # in order
        places = np.flatnonzero(chosen[row, inside])
        places = places[np.unique(word[places], return_index=True)[1]]
        start, length = np.arange(len(here)), (~np.isin(word, word[places])).astype(np.int64)
        first, entry = np.searchsorted(word, word[places]), self.entry[here[places]]
        start[first] = len(here) + self.begin[entry]
        length[first] = np.diff(self.begin)[entry]
        flat = np.concatenate((ids[row, inside], self.flat))[spread(start, length)]
        return np.split(flat, np.cumsum(np.bincount(row, length, len(rows)).astype(np.int64))[:-1])
