"""How much each word matters to a transformer: by integrated gradients (Sundararajan, Taly and Yan, ICML 2017), or by the norm of
the gradient of the loss, as TextAttack and A2T (Yoo and Qi 2021) have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ..data.dataset import Task
from ..huggingface.batches import Pieces, Tuner, encode, in_batches
from ..huggingface.loading import answering, quiet
from ..text.ragged import Floats, Ints, spread
from .base import GRADIENT_STEPS, Column, NotEnoughAccess

BACKWARD = 4  # times the memory of a forward pass, about


class Network(Protocol):
    """What is used here of a model and its tokenizer: a Transformer has it."""

    name: str
    task: Task
    model: Any
    tokenizer: Any
    max_length: int

    @property
    def pad(self) -> int: ...
    @property
    def fill(self) -> dict[str, int]: ...
    @property
    def usual_tokens(self) -> int: ...


def lift(model: Any) -> float:
    """A factor for what is derived, so that small gradients do not vanish in float16; to be taken out of the gradients again."""
    import torch

    return 1024.0 if model.dtype == torch.float16 else 1.0


def gives_gradients(model: Any, tokenizer: Any) -> bool:
    """Whether gradients reach the embeddings of the words. An encoder-decoder also looks up pieces of its own output."""
    try:
        table = model.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        return False
    one_text = not getattr(model.config, "is_encoder_decoder", False)
    return bool(tokenizer.is_fast and one_text and hasattr(table, "register_forward_hook"))


def word_saliency(
    victim: Network,
    columns: Sequence[Column],
    side: int,
    words: Sequence[Sequence[tuple[int, int]]],
    weights: Floats,
    steps: int = GRADIENT_STEPS,
    norm: str | None = None,
) -> list[Floats]:
    """What each word of column `side` adds to sum(weights * scores), compared to mask (or else pad) pieces in its place; the
    other column and the special tokens stay as they are. The sum over all pieces is the whole difference. norm: see `_norms`.

    A piece belongs to the word in which it ends. Words beyond the model's maximal length have 0.
    """
    count = [len(spans) for spans in words]
    row = np.repeat(np.arange(len(words)), count)
    if not row.size:
        return [np.zeros(0) for _ in words]
    start, stop = np.array([place for spans in words for place in spans], np.int64).T
    pieces = encode(victim.tokenizer, columns, victim.max_length, places=True)
    piece = np.flatnonzero((pieces.flat["side"] == side) & (pieces.flat["end"] > pieces.flat["begin"]))
    last, owner = pieces.flat["end"][piece] - 1, np.repeat(pieces.order, pieces.length)[piece]
    order = np.lexsort((start, row))
    apart = 1 + max(int(stop.max()), int(last.max(initial=0)))  # sorts all places of a row before those of the next
    at = np.searchsorted((row * apart + start)[order], owner * apart + last, "right") - 1
    word = order[np.maximum(at, 0)]
    mine = (at >= 0) & (row[word] == owner) & (last < stop[word])
    if norm:
        found = _norms(victim, pieces, piece[mine], word[mine], row.size)
    else:
        added = _piece_saliency(victim, pieces, side, weights, steps)
        found = np.asarray(np.bincount(word[mine], added[piece[mine]], row.size), np.float64)
    return np.split(found, np.cumsum(count)[:-1])


def _norms(victim: Network, pieces: Pieces, piece: Ints, word: Ints, words: int) -> Floats:
    """Of each word: the L1 norm of the gradient of the loss by the word's embedding, the mean over its pieces.

    The loss is that of the victim's own answer: cross-entropy of the label with the highest score; of label sets, the binary one
    of all labels. Each text has a positive factor of its own, which changes no order: without it, the gradients of an answer that
    is all but certain vanish. piece, word: the pieces of words, and the word of each.
    """
    import torch

    of_word = np.full(int(pieces.start[-1]), -1)
    of_word[piece] = word
    left = victim.tokenizer.padding_side == "left"

    def step(at: int, end: int) -> tuple[Ints, Floats]:
        batch = pieces.pad(at, end, victim.fill, left=left)
        device = victim.model.device
        inputs = {name: torch.from_numpy(array).to(device) for name, array in batch.inputs.items()}
        still = torch.zeros((), dtype=torch.bool, device=device)
        with torch.enable_grad(), _on_the_way(victim, inputs["input_ids"], still, still) as seen:
            logits = victim.model(**inputs).logits.float()
            point, _ = _looked_up(victim, seen)
            slope = _slope(logits.detach(), victim.task == "single") * lift(
                victim.model
            )  # one factor more for all texts
            (gradient,) = torch.autograd.grad(logits, point, slope)
        here = of_word[pieces.start[at] : pieces.start[end]]
        known, number = np.unique(here[here >= 0], return_inverse=True)
        mine = gradient[torch.from_numpy(batch.mask).to(device)][torch.from_numpy(here >= 0).to(device)].double()
        total = torch.zeros(known.size, mine.shape[1], dtype=mine.dtype, device=device)
        total.index_add_(0, torch.from_numpy(number).to(device), mine)
        norm = total.abs().sum(1).cpu().numpy()
        return known, np.asarray(norm / np.bincount(number, minlength=known.size), np.float64)

    with quiet(), answering(victim.model):
        tokens = max(1, victim.usual_tokens // BACKWARD)
        parts, _ = in_batches(pieces, step, tokens, Tuner((), tokens), wait=lambda part: None)
    out = np.zeros(words)
    for known, norm in parts:
        out[known] = norm
    return out


def _slope(logits: Any, one_label: bool) -> Any:
    """The gradient of the loss of the answer by its logits, of length 1 in every row.

    Computed from the scores of the labels that are wrong, so that it keeps its direction however sure the answer is.
    """
    import torch

    if one_label:
        said = torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).bool()
        others = logits.masked_fill(said, float("-inf")).softmax(-1)  # up to a factor
        slope = others - said.to(others.dtype)
    else:
        slope = torch.where(logits > 0, -torch.sigmoid(-logits), torch.sigmoid(logits))
    return slope / slope.abs().sum(-1, keepdim=True).clamp_min(torch.finfo(slope.dtype).tiny)


def _piece_saliency(victim: Network, pieces: Pieces, side: int, weights: Floats, many: int) -> Floats:
    """Of every piece: its distance from the baseline times the mean gradient on the way. Each step is a row of a batch."""
    import torch

    place = spread(np.repeat(pieces.start[:-1], many), np.repeat(pieces.length, many))
    flat = {name: values[place] for name, values in pieces.flat.items()}
    steps = Pieces(np.repeat(pieces.order, many), np.repeat(pieces.length, many), flat)
    left = np.tile((np.arange(many) + 0.5) / many, len(pieces))  # the share of the way that is left at each step
    weights = np.asarray(weights, np.float32)

    def step(at: int, end: int) -> Floats:
        batch = steps.pad(at, end, {**victim.fill, "side": -1}, left=victim.tokenizer.padding_side == "left")
        moves = batch.inputs.pop("side") == side
        arrays = (moves[..., None], left[at:end, None, None], weights[steps.order[at:end]])
        device = victim.model.device
        moving, ahead, wanted = (torch.from_numpy(array).to(device) for array in arrays)
        inputs = {name: torch.from_numpy(array).to(device) for name, array in batch.inputs.items()}
        with torch.enable_grad(), _on_the_way(victim, inputs["input_ids"], moving, ahead) as seen:
            logits = victim.model(**inputs).logits.float()
            scores = logits.softmax(-1) if victim.task == "single" else logits.sigmoid()
            point, way = _looked_up(victim, seen)
            (gradient,) = torch.autograd.grad((scores * wanted).sum() * lift(victim.model), point)
        added = (gradient.float() / lift(victim.model) * way.float()).sum(-1).cpu().numpy()
        return np.asarray(added[batch.mask], np.float64)

    with quiet(), answering(victim.model):
        tokens = max(1, victim.usual_tokens // BACKWARD)
        parts, _ = in_batches(steps, step, tokens, Tuner((), tokens), wait=lambda part: None)
    return np.bincount(place, np.concatenate(parts), int(pieces.start[-1])) / many


def _looked_up(victim: Network, seen: list[tuple[Any, Any]]) -> tuple[Any, Any]:
    """What `_on_the_way` has noted. Raises NotEnoughAccess if the model did not look up its pieces, or more than once."""
    if len(seen) != 1:
        raise NotEnoughAccess(f"expected {victim.name} to look up its pieces once, got {len(seen)} times")
    return seen[0]


@contextmanager
def _on_the_way(victim: Network, pieces: Any, moving: Any, ahead: Any) -> Iterator[list[tuple[Any, Any]]]:
    """Replaces the embeddings of the `moving` pieces by points between the baseline and themselves; `ahead`: the share of the
    way that is left. Yields a list that holds (points, ways) once the model has looked its pieces up.

    A hook does it, so that the model still gets the pieces: it computes positions from them, and which piece to answer from.
    Models that are given `inputs_embeds` instead get these wrong or raise.
    """
    import torch

    seen: list[tuple[Any, Any]] = []
    mask = victim.tokenizer.mask_token_id
    blank = victim.pad if mask is None else mask

    def replace(table: Any, arguments: Any, found: Any) -> Any:
        if not torch.equal(arguments[0], pieces):  # GPT-2 looks up token types in the same table
            return found
        base = table.forward(torch.full_like(arguments[0], blank))
        way = ((found - base) * moving).detach()
        point = (found.detach() - way * ahead.to(way.dtype)).requires_grad_()
        seen.append((point, way))
        return point

    handle = victim.model.get_input_embeddings().register_forward_hook(replace)
    try:
        yield seen
    finally:
        handle.remove()
