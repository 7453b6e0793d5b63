"""The embedded translator, toy:translate: German to English, a small network with attention, by NumPy alone.

Source words are embedded and mixed with their two neighbours on each side; the last four words that were written make a query;
attention by that query over the source makes a second query, and what that one attends to chooses the next word. Of these two
hops the first may see that the verb comes last, where the second finds it. A word that is not in the vocabulary is <unk> for the
network; an <unk> that it writes becomes the source word that it attends to most. build/translator trains it on the grammar of
the embedded data, without its test split.

Weights and activations are multiples of powers of two, so their sums are exact in any order, in any batch, on any machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from ..data.dataset import Task, joined
from ..resources import load, manifest
from ..text.ragged import Floats, Ints, Mask, filled
from .base import Access, Column, Outputs, Victim, as_objects
from .substitution import Located, Vocabulary

PAD, UNK, END = range(3)  # the first words of both vocabularies; PAD also stands before the first word that is written
REACH, MEMORY = 2, 4  # neighbours on each side of a source word, and words before the next one that the decoder sees
POSITIONS = 32  # that have a vector of their own; later ones share the last
LONGEST = 128  # source words that the model sees
WORD = re.compile(
    r"[^\W_]+(?:['’-][^\W_]+)*|([^\w\s])\1*|_+"
)  # a mark that is repeated is one word, which nobody knows
LEFT = set(".,?!:;)")  # marks that stand close to the word before them
STEP = 2.0**-8  # of activations
SHARE = 2.0**-12  # of attention
SLOPE = 2.0**-16  # of gradients
CELLS, AT_ONCE = (
    1 << 15,
    64,
)  # source words that are translated together, and texts whose gradients are computed together
MORE = 6  # words of a translation beyond twice those of its source, after which it ends
VERSION = 1  # of words and spelling: part of the identity


class Network(NamedTuple):
    """The weights, in the order in which they are used; d is the size of all vectors."""

    source: Floats  # [source words, d]
    source_place: Floats  # [POSITIONS, d]
    mix: Floats  # [2 * REACH + 1, d, d]
    mix_bias: Floats
    target: Floats  # [target words, d]
    target_place: Floats  # [POSITIONS, d]
    recall: Floats  # [MEMORY, d, d]
    recall_bias: Floats
    key: Floats  # [d, d]
    hop: Floats  # [d, d]
    hop_bias: Floats
    join: Floats  # [2 * d, d]
    join_bias: Floats
    out: Floats  # [d, target words]
    out_bias: Floats


class Model(NamedTuple):
    """The network and its vocabularies."""

    net: Network
    source: tuple[str, ...]
    target: tuple[str, ...]
    source_number: dict[str, int]
    target_number: dict[str, int]


class State(NamedTuple):
    """What the network computes for sources and the beginnings of their translations."""

    hidden: Floats  # [n, source, d]
    query: Floats  # [n, target, d]
    first: Floats  # [n, target, source]: attention of the first query
    again: Floats  # [n, target, d]: the second query
    share: Floats  # [n, target, source]: its attention
    joined: Floats  # [n, target, d]
    logits: Floats  # [n, target, target words]


@cache
def model() -> Model:
    """The model that ships with Scuff."""
    with np.load(BytesIO(load("toy-translate.npz"))) as saved:
        net = Network(*(saved[name].astype(np.float64) * 2.0 ** -int(saved["bits"]) for name in Network._fields))
        source, target = (tuple(bytes(saved[name]).decode().split("\n")) for name in ("source_words", "target_words"))
    return Model(
        net, source, target, {word: at for at, word in enumerate(source)}, {word: at for at, word in enumerate(target)}
    )


def words_in(text: str) -> list[re.Match[str]]:
    """The words and marks of a text that the model sees."""
    return [match for _, match in zip(range(LONGEST), WORD.finditer(text), strict=False)]


def split(text: str) -> list[str]:
    """The words and marks of a text."""
    return [match[0] for match in words_in(text)]


def source_numbers(words: Sequence[str], known: dict[str, int]) -> list[int]:
    return [known.get(word.lower(), UNK) for word in words]


def target_numbers(text: str, known: dict[str, int]) -> list[int]:
    """The words of a translation as numbers; the first of a sentence is in lower case unless it is always written so."""
    out: list[int] = []
    begins = True
    for word in split(text):
        out.append(known.get(word, known.get(word.lower(), UNK) if begins else UNK))
        begins = word in ".?!"
    return out


def written(words: Sequence[str]) -> str:
    """Words as a text: blanks between them, but not before marks, and a capital at the beginning of a sentence."""
    out, begins = "", True
    for word in words:
        word = word[:1].upper() + word[1:] if begins else word
        out += word if not out or word in LEFT else f" {word}"
        begins = word in (".", "?", "!")
    return out


def rows_of(numbers: Sequence[Sequence[int]]) -> Ints:
    """Lists of numbers as rows of one array, filled up with PAD."""
    return filled(numbers, PAD)


def rounded(values: Floats, step: float) -> Floats:
    return np.rint(values / step) * step


def encode(net: Network, vectors: Floats, known: Mask, exact: bool = True) -> Floats:
    """What the network makes of source words: [n, source, d]. vectors: of the words; known: which are words, not PAD."""
    places = net.source_place[np.minimum(np.arange(vectors.shape[1]), POSITIONS - 1)]
    read = (vectors + places) * known[..., None]
    around = np.pad(read, ((0, 0), (REACH, REACH), (0, 0)))
    size = vectors.shape[1]
    mixed = sum(around[:, at : at + size] @ net.mix[at] for at in range(2 * REACH + 1)) + net.mix_bias
    new = np.tanh(mixed)
    out: Floats = (read + (rounded(new, STEP) if exact else new)) * known[..., None]
    return out


def recall(net: Network, before: Ints, place: Ints, exact: bool = True) -> Floats:
    """The query for the next word. before: [..., MEMORY], the words before it, the last one last; place: its place."""
    mixed = sum(net.target[before[..., at]] @ net.recall[at] for at in range(MEMORY)) + net.recall_bias
    new = np.tanh(mixed + net.target_place[np.minimum(place, POSITIONS - 1)])
    return rounded(new, STEP) if exact else new


def attend(net: Network, hidden: Floats, known: Mask, query: Floats, exact: bool = True) -> Floats:
    """How much each query attends to each source word: [n, target, source]."""
    fit = np.where(known[:, None], (query @ net.key) @ hidden.transpose(0, 2, 1), -np.inf)
    raised = np.exp(fit - fit.max(-1, keepdims=True))
    raised = rounded(raised, 2.0**-20) if exact else raised
    share = raised / raised.sum(-1, keepdims=True)
    return rounded(share, SHARE) if exact else share


def choose(net: Network, hidden: Floats, known: Mask, query: Floats, exact: bool = True) -> State:
    """Attention and the logits of the next words. query: [n, target, d]. Every row must have a source word."""
    first = attend(net, hidden, known, query, exact)
    again = np.tanh(query + (first @ hidden) @ net.hop + net.hop_bias)
    again = rounded(again, STEP) if exact else again
    share = attend(net, hidden, known, again, exact)
    joint = np.tanh(np.concatenate((again, share @ hidden), -1) @ net.join + net.join_bias)
    joint = rounded(joint, STEP) if exact else joint
    return State(hidden, query, first, again, share, joint, joint @ net.out + net.out_bias)


def translate(numbers: Sequence[Sequence[int]]) -> list[tuple[list[int], list[int]]]:
    """The words of each translation, always the likeliest next one, and the source word that each attends to most."""
    net, out = model().net, [(list[int](), list[int]()) for _ in numbers]
    order = sorted((at for at, mine in enumerate(numbers) if mine), key=lambda at: len(numbers[at]))
    while order:
        some = order[-max(1, CELLS // len(numbers[order[-1]])) :]  # the longest together
        del order[-len(some) :]
        source = rows_of([numbers[at] for at in some])
        known = source != PAD
        hidden, most = encode(net, net.source[source], known), 2 * known.sum(1) + MORE
        rows, before = np.array(some), np.full((len(some), MEMORY), PAD)
        for place in range(int(most.max())):
            found = choose(net, hidden, known, recall(net, before, np.array(place))[:, None])
            new, near = found.logits[:, 0].argmax(-1), found.share[:, 0].argmax(-1)
            going = (new != END) & (place < most)
            for row, word, at in zip(rows[going].tolist(), new[going].tolist(), near[going].tolist(), strict=True):
                out[row][0].append(word)
                out[row][1].append(at)
            if not going.any():
                break
            if not going.all():
                rows, hidden, known, most = rows[going], hidden[going], known[going], most[going]
            before = np.concatenate((before[going, 1:], new[going, None]), 1)
    return out


def losses(net: Network, vectors: Floats, known: Mask, target: Ints) -> tuple[Floats, Floats]:
    """The adversarial loss of each row (Michel et al. 2019, eq. 4) and its gradient by the vectors of the source words.

    vectors: [n, source, d]. target: [n, target], filled up with PAD.
    """
    hidden = encode(net, vectors, known, exact=False)
    before = np.pad(target, ((0, 0), (MEMORY, 0)), constant_values=PAD)
    size = target.shape[1]
    before = np.stack([before[:, at : at + size] for at in range(MEMORY)], -1)
    state = choose(net, hidden, known, recall(net, before, np.arange(size), exact=False), exact=False)
    likely = np.exp(state.logits - state.logits.max(-1, keepdims=True))
    likely /= likely.sum(-1, keepdims=True)
    right = np.arange(likely.shape[-1]) == target[..., None]
    chance = (likely * right).sum(-1, keepdims=True)
    other = np.maximum((likely * ~right).sum(-1, keepdims=True), np.finfo(np.float64).tiny)  # 1 - chance, exact near 0
    counts = (target != PAD)[..., None]
    loss = (np.log(other) * counts).sum((1, 2))
    # backwards, step by step
    by_logits = np.where(right, -chance, chance / other * likely) * counts
    by_joined = (by_logits @ net.out.T) * (1 - state.joined**2)
    by_again, by_mean = np.split(by_joined @ net.join.T, 2, -1)
    by_hidden, by_query = _attended(net, hidden, state.share, state.again, by_mean)
    by_mean = ((by_again + by_query) * (1 - state.again**2)) @ net.hop.T
    by_hidden = (by_hidden + _attended(net, hidden, state.first, state.query, by_mean)[0]) * known[..., None]
    places = net.source_place[np.minimum(np.arange(vectors.shape[1]), POSITIONS - 1)]
    new = hidden - (vectors + places) * known[..., None]
    by_mixed = np.pad(by_hidden * (1 - new**2), ((0, 0), (REACH, REACH), (0, 0)))
    width, count = 2 * REACH, vectors.shape[1]
    by_read = by_hidden + sum(by_mixed[:, width - at :][:, :count] @ net.mix[at].T for at in range(width + 1))
    return loss, by_read * known[..., None]


def _attended(net: Network, hidden: Floats, share: Floats, query: Floats, by_mean: Floats) -> tuple[Floats, Floats]:
    """The gradients by source words and by queries, from that by the mean that the queries attend to."""
    by_share = by_mean @ hidden.transpose(0, 2, 1)
    by_fit = share * (by_share - (share * by_share).sum(-1, keepdims=True))
    by_hidden = share.transpose(0, 2, 1) @ by_mean + by_fit.transpose(0, 2, 1) @ (query @ net.key)
    return by_hidden, (by_fit @ hidden) @ net.key.T


class ToyTranslator(Victim):
    """toy:translate, German to English. It gives gradients for substitutions of words (`Substitutable`)."""

    task: Task = "text"
    access = Access.DECISION
    rows_at_once = 2048
    cases_at_once = 20_000
    sees_through_files = True
    name = "toy:translate"
    unknown = "<unk>"

    def __call__(self, *columns: Column) -> Outputs:
        if len(columns) != 1:
            raise ValueError(f"expected one column of texts for {self.name}, got {len(columns)}")
        known, target = model().source_number, model().target
        words = [split(joined(text)) for text in columns[0]]
        found = translate([source_numbers(mine, known) for mine in words])
        out = [
            written([source[at] if word == UNK else target[word] for word, at in zip(*made, strict=True)])
            for source, made in zip(words, found, strict=True)
        ]
        return Outputs.of(as_objects(out))

    @property
    def identity(self) -> str:
        return f"{self.name}:{VERSION}:{manifest()['toy-translate.npz']['sha256'][:16]}"

    def vocabulary(self) -> Vocabulary:
        surfaces = ["", "", "", *model().source[END + 1 :]]
        vectors = model().net.source.astype(np.float32)
        return Vocabulary(surfaces, np.ones(len(surfaces), np.bool_), UNK, vectors)

    def located(self, texts: Column) -> list[Located]:
        out = []
        for text in texts:
            words = words_in(joined(text))
            ids = source_numbers([match[0] for match in words], model().source_number)
            out.append(Located(*(np.array(part, np.int64) for part in (ids, *_places(words)))))
        return out

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        net = model().net
        numbers = [located.ids.tolist() for located in self.located(texts)]
        wanted = [[*target_numbers(str(target), model().target_number), END] for target in targets]
        out: list[Floats] = [np.zeros((0, net.source.shape[1]))] * len(numbers)
        rows = [at for at, mine in enumerate(numbers) if mine]
        for first in range(0, len(rows), AT_ONCE):
            some = rows[first : first + AT_ONCE]
            source, target = rows_of([numbers[at] for at in some]), rows_of([wanted[at] for at in some])
            by_vectors = losses(net, net.source[source], source != PAD, target)[1]
            for at, found in zip(some, by_vectors, strict=True):
                out[at] = rounded(found[: len(numbers[at])], SLOPE)
        return out


def _places(words: Sequence[re.Match[str]]) -> tuple[list[int], list[int]]:
    """Where words begin and end."""
    return [match.start() for match in words], [match.end() for match in words]
