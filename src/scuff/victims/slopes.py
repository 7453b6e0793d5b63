"""Hugging Face models as `Substitutable`: their vocabulary, the places of pieces in a text, and the gradient of the adversarial
loss by the embedding of each piece. Encoder-decoders for text, and classifiers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..huggingface.batches import Pieces, Tuner, encode, in_batches
from ..huggingface.loading import answering, quiet
from ..text.ragged import Floats, Ints, Mask, Ragged, filled
from ..text.unicode import is_white
from .base import Column, NotEnoughAccess
from .gradients import BACKWARD, Network, gives_gradients, lift
from .substitution import Located, Vocabulary

BYTE_LEVEL, META = "ByteLevel", "▁"
NO_TEXT = re.compile(r"<0x[0-9A-Fa-f]{2}>|\[unused\d+\]|<extra_id_\d+>|�")  # single bytes, pieces that nobody uses
NO_LABEL = -100  # where a target is padding
AHEAD = 8  # letters that a tokenizer may have left out before a piece


class TextNetwork(Network, Protocol):
    """A Network that may write texts, and knows its vocabulary."""

    prefix: str

    def vocabulary(self) -> Vocabulary: ...


def model_gives_slopes(model: Any, tokenizer: Any, task: str) -> bool:
    """Whether a model gives gradients for substitutions: encoder-decoders for text, and classifiers without a decoder."""
    if task != "text":
        return task != "tokens" and gives_gradients(model, tokenizer)
    return bool(getattr(model.config, "is_encoder_decoder", False)) and hasattr(_table(model), "register_forward_hook")


def _table(model: Any) -> Any:
    """The table in which the source's pieces are looked up; None if there is none."""
    try:
        reader = model.get_encoder() if getattr(model.config, "is_encoder_decoder", False) else model
        return reader.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        return None


# ---- the vocabulary ----


def vocabulary_of(model: Any, tokenizer: Any) -> Vocabulary:
    """The pieces of a tokenizer as they read in a text, with the model's embeddings of them."""
    import torch

    table = _table(model)
    with torch.no_grad():
        vectors = table(torch.arange(table.weight.shape[0], device=table.weight.device)).float().cpu().numpy()
    tokens = tokenizer.convert_ids_to_tokens(list(range(min(len(vectors), len(tokenizer)))))
    special = _special(tokenizer, len(vectors))
    read = _reading(tokenizer, tokens)
    surfaces, begins = [""] * len(vectors), np.zeros(len(vectors), np.bool_)
    for at, token in enumerate(tokens):
        if token is not None and not special[at] and not NO_TEXT.search(token):
            surfaces[at], begins[at] = read(token)
    unknown = tokenizer.unk_token_id
    return Vocabulary(surfaces, begins, -1 if unknown is None else int(unknown), vectors)


def _special(tokenizer: Any, count: int) -> Mask:
    """Which pieces are marks that the tokenizer sets, or that were added as such."""
    out = np.zeros(count, np.bool_)
    added = [number for number, token in tokenizer.added_tokens_decoder.items() if token.special]
    numbers = np.array([*tokenizer.all_special_ids, *added], np.int64)
    out[numbers[numbers < count]] = True
    return out


def _reading(tokenizer: Any, tokens: Sequence[str | None]) -> Callable[[str], tuple[str, bool]]:
    """What reads a piece: returns its text, "" if it is no whole characters, and whether it begins a word."""
    parts = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {}
    model = parts.get("model") or {}
    around = json.dumps([parts.get("pre_tokenizer"), parts.get("decoder"), parts.get("normalizer")], ensure_ascii=False)
    if BYTE_LEVEL in around:
        return _read_bytes
    if model.get("type") == "WordPiece":
        prefix = model.get("continuing_subword_prefix") or "##"
        return lambda token: (token.removeprefix(prefix), not token.startswith(prefix))
    if META in around or (not parts and any(token and token.startswith(META) for token in tokens)):
        return lambda token: (token.removeprefix(META).replace(META, " "), token.startswith(META))
    suffix = model.get("end_of_word_suffix")
    if suffix:  # what ends a word takes the place of what does
        return lambda token: (token.removesuffix(suffix), token.endswith(suffix))
    return lambda token: (token, True)


def _byte_letters() -> dict[str, int]:
    """The byte of each letter of a byte-level piece (Radford et al. 2019): printable bytes are themselves, others come behind."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + at): byte for at, byte in enumerate(others)}


BYTES = _byte_letters()


def _read_bytes(token: str) -> tuple[str, bool]:
    try:
        text = bytes(BYTES[letter] for letter in token).decode("utf-8")
    except (KeyError, UnicodeDecodeError):
        return "", False
    return text.removeprefix(" "), text.startswith(" ")


# ---- places ----


@dataclass(frozen=True, eq=False)
class Placed:
    """Pieces of texts; `which` are the numbers of those that stand for some of a text, each with its place there."""

    pieces: Pieces
    which: Ints
    start: Ints
    stop: Ints

    def split(self, values: Any) -> list[Any]:
        """Values of these pieces, by text, in the order of the caller."""
        cuts = np.searchsorted(self.which, self.pieces.start[1:-1])
        return self.pieces.back(np.split(values, cuts))


def placed(victim: TextNetwork, texts: Column) -> Placed:
    """The pieces that the model sees of each text, without blanks around them.

    Its prefix, the tokenizer's marks, bytes of letters and the mere beginning of a word ("▁") are none.
    """
    prefix = victim.prefix if victim.task == "text" else ""
    whole = [f"{prefix}{text}" for text in texts]
    fast = victim.tokenizer.is_fast
    pieces = encode(victim.tokenizer, [whole], victim.max_length, places=fast)
    row = np.repeat(pieces.order, pieces.length)
    if fast:
        begin, end, mine = pieces.flat["begin"], pieces.flat["end"], pieces.flat["side"] == 0
    else:
        begin, end = _walked(victim.vocabulary(), pieces, whole)
        mine = np.ones(row.size, np.bool_)
    reads = np.array([bool(surface) for surface in victim.vocabulary().surfaces])
    if victim.vocabulary().unknown >= 0:
        reads[victim.vocabulary().unknown] = True
    corpus = Ragged.of(whole)
    start, stop = corpus.offsets[row] + begin, corpus.offsets[row] + end
    white = np.append(is_white(corpus.codes), False)
    while (blank := (start < stop) & white[start]).any():
        start = start + blank
    while (blank := (start < stop) & white[stop - 1]).any():
        stop = stop - blank
    start, stop = start - corpus.offsets[row] - len(prefix), stop - corpus.offsets[row] - len(prefix)
    which = np.flatnonzero(mine & reads[pieces.flat["input_ids"]] & (start >= 0) & (start < stop))
    return Placed(pieces, which, start[which], stop[which])


def _walked(vocabulary: Vocabulary, pieces: Pieces, texts: Sequence[str]) -> tuple[Ints, Ints]:
    """Where pieces stand, for tokenizers that do not say so: reads the text along with them. Empty where they differ."""
    ids = pieces.flat["input_ids"].tolist()
    begin, end = np.zeros((2, len(ids)), np.int64)
    for at, row in enumerate(pieces.order.tolist()):
        place = 0
        for number in range(int(pieces.start[at]), int(pieces.start[at + 1])):
            surface = vocabulary.surfaces[ids[number]]
            found = texts[row].find(surface, place, place + len(surface) + AHEAD) if surface else -1
            if found >= 0:
                begin[number], end[number] = found, found + len(surface)
                place = found + len(surface)
    return begin, end


def locate(victim: TextNetwork, texts: Column) -> list[Located]:
    """The pieces of each text and their places."""
    if not len(texts):
        return []
    found = placed(victim, texts)
    ids = found.pieces.flat["input_ids"][found.which]
    return [Located(*part) for part in zip(*map(found.split, (ids, found.start, found.stop)), strict=True)]


# ---- slopes ----


def slopes_of(victim: TextNetwork, texts: Column, targets: Sequence[Any]) -> list[Floats]:
    """The gradient of the adversarial loss by each located piece's embedding, as it comes out of the table."""
    import torch

    if not len(texts):
        return []
    found = placed(victim, texts)
    pieces, left = found.pieces, victim.tokenizer.padding_side == "left"
    wanted = _labels(victim, targets) if victim.task == "text" else None

    def step(at: int, end: int) -> Any:
        batch = pieces.pad(at, end, victim.fill, left=left)
        device = victim.model.device
        inputs = {name: torch.from_numpy(array).to(device) for name, array in batch.inputs.items()}
        rows = pieces.order[at:end].tolist()
        with torch.enable_grad():
            if wanted is not None:
                labels = torch.from_numpy(filled([wanted[row] for row in rows], NO_LABEL)).to(device)
                loss, point = _text_loss(victim, inputs, labels)
            else:
                loss, point = _label_loss(victim, inputs, np.array([targets[row] for row in rows]))
            (gradient,) = torch.autograd.grad(loss * lift(victim.model), point)
        kept = found.which[
            np.searchsorted(found.which, pieces.start[at]) : np.searchsorted(found.which, pieces.start[end])
        ]
        mine = gradient[torch.from_numpy(batch.mask).to(device)][torch.from_numpy(kept - pieces.start[at]).to(device)]
        return (mine.float() / lift(victim.model)).cpu().numpy()

    with quiet(), answering(victim.model):
        tokens = max(1, victim.usual_tokens // BACKWARD)
        parts, _ = in_batches(pieces, step, tokens, Tuner((), tokens), wait=lambda part: None)
    return found.split(np.concatenate(parts))


@contextmanager
def _noted(table: Any) -> Iterator[list[Any]]:
    """Yields a list of what a table returns while it is open, each a leaf that gradients reach."""
    seen: list[Any] = []

    def note(_: Any, __: Any, found: Any) -> Any:
        seen.append(found.detach().requires_grad_())
        return seen[-1]

    handle = table.register_forward_hook(note)
    try:
        yield seen
    finally:
        handle.remove()


def _text_loss(victim: TextNetwork, inputs: dict[str, Any], labels: Any) -> tuple[Any, Any]:
    """Eq. (4) of all texts together, and the leaf of their embeddings.

    The encoder runs alone while its table is watched: the decoder looks up its own pieces in the same one.
    """
    from ..translators.network import adversarial_loss

    with _noted(_table(victim.model)) as seen:
        read = victim.model.get_encoder()(**inputs)
    if len(seen) != 1:
        raise NotEnoughAccess(f"expected {victim.name} to look up its pieces once, got {len(seen)} times")
    mask = inputs["attention_mask"]
    logits = victim.model(encoder_outputs=read, attention_mask=mask, labels=labels).logits.float()
    return adversarial_loss(logits, labels, NO_LABEL).sum(), seen[0]


def _label_loss(victim: TextNetwork, inputs: dict[str, Any], targets: Any) -> tuple[Any, Any]:
    """log(1 - p(label)); of label sets the sum over all labels of log(1 - p(what holds))."""
    import torch

    from ..translators.network import adversarial_loss

    with _noted(_table(victim.model)) as seen:
        logits = victim.model(**inputs).logits.float()
    if not seen:
        raise NotEnoughAccess(f"expected {victim.name} to look up its pieces, got no look-up")
    wanted = torch.from_numpy(np.asarray(targets)).to(logits.device)
    if victim.task == "single":
        return adversarial_loss(logits, wanted.long(), NO_LABEL).sum(), seen[0]
    away = torch.where(wanted.bool(), -logits, logits)
    return torch.nn.functional.logsigmoid(away).sum(), seen[0]


def _labels(victim: TextNetwork, targets: Sequence[Any]) -> list[list[int]]:
    """The pieces of each reference, with the mark at its end."""
    texts = [str(target) for target in targets]
    found = victim.tokenizer(text_target=texts, truncation=True, max_length=victim.max_length, padding=False)
    return [list(row) for row in found["input_ids"]]
