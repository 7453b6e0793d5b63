"""Search for the best translation: a beam, of which one of width 1 is greedy."""

from __future__ import annotations

from typing import Any

import torch

from .network import Batch, Network
from .vocabulary import BEGIN, END, PAD, UNKNOWN

NOISE = 1e-4  # batches change sums of log-probabilities by less; nearer ones are a tie that a batch could decide


@torch.no_grad()  # type: ignore[untyped-decorator]
def search(network: Network, batch: Batch, beam: int = 1) -> tuple[Any, Any, Any]:
    """The pieces of each row's translation, the source place that each attends to most, and whether there was a tie.

    int64[rows, pieces] with PAD behind the last, int64[rows, pieces], bool[rows]. A row ends by itself or after twice as many
    pieces as its source has, and ten. Beams compare the mean log-probability of a piece.
    """
    rows, device = len(batch.lengths), network.device
    memory = network.encode(network.embed(batch.ids), batch)
    memory = memory.take(torch.arange(rows, device=device).repeat_interleave(beam)) if beam > 1 else memory
    # END of the source is no word: <unk> cannot stand for it
    word = memory.mask & memory.mask.roll(-1, 1)
    word[:, -1] = False
    longest = (2 * batch.lengths + 10).tolist()
    limit = torch.tensor(longest, device=device).repeat_interleave(beam)
    last = torch.full((rows * beam,), BEGIN, device=device)
    total = torch.zeros(rows, beam, device=device)
    total[:, 1:] = -torch.inf  # all beams are alike at first
    ended = torch.zeros(rows * beam, dtype=torch.bool, device=device)
    length = torch.zeros(rows * beam, device=device)
    tied = torch.zeros(rows, dtype=torch.bool, device=device)
    pieces: list[Any] = []
    places: list[Any] = []
    state: Any = None
    for at in range(max(longest, default=0)):
        vector, attention, state = network.step(last, memory, state)
        scores = network.output(vector).float().log_softmax(-1)
        scores[:, : BEGIN + 1] = -torch.inf  # PAD, too
        only_end = torch.full_like(scores, -torch.inf)
        only_end[:, END] = 0
        scores = torch.where(ended[:, None], only_end, scores)
        found, index = (total[..., None] + scores.view(rows, beam, -1)).flatten(1).topk(beam + 1, 1)
        gap = (found[:, :-1] - found[:, 1:]).nan_to_num(torch.inf)
        tied |= (gap < NOISE).any(1) & ~ended.view(rows, beam).all(1)
        total, index = found[:, :beam], index[:, :beam]
        size = scores.shape[-1]
        place, unsure = _most_attended(attention, word)
        if beam > 1:
            origin = (index // size + torch.arange(rows, device=device)[:, None] * beam).flatten()
            state, ended, length, place, unsure = (
                network.reorder(state, origin), ended[origin], length[origin], place[origin], unsure[origin],
            )  # fmt: skip
            pieces, places = [part[origin] for part in pieces], [part[origin] for part in places]
        last = torch.where(ended, END, (index % size).flatten())
        tied |= (unsure & (last == UNKNOWN)).view(rows, beam).any(1)
        length = length + (~ended)
        pieces.append(torch.where(ended, PAD, last))
        places.append(place)
        ended = ended | (last == END) | (at + 1 >= limit)
        if at % 4 == 3 and bool(ended.all()):
            break
    mean = (total / length.view(rows, beam).clamp(min=1)).nan_to_num(neginf=-torch.inf)
    ranked = mean.topk(min(2, beam), 1)
    tied |= (ranked.values[:, 0] - ranked.values[:, -1] < NOISE) if beam > 1 else tied
    chosen = ranked.indices[:, 0] + torch.arange(rows, device=device) * beam
    out = torch.stack(pieces, 1)[chosen]
    return out.masked_fill(out == END, PAD), torch.stack(places, 1)[chosen], tied


def _most_attended(attention: Any, word: Any) -> tuple[Any, Any]:
    """The place of the highest attention to a word, and whether two are as high; -1 where there is no word."""
    seen = attention.masked_fill(~word, -1.0)
    found, place = seen.topk(min(2, seen.shape[1]), 1)
    unsure = (found[:, 0] - found[:, -1] < NOISE) & (found[:, -1] >= 0) if found.shape[1] > 1 else word[:, 0] & False
    return torch.where(found[:, 0] >= 0, place[:, 0], -1), unsure
