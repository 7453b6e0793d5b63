"""A network on a GPU in batches of fixed shapes: a row's answer depends on the row alone, and each shape is captured once.

Rows are padded to one of a few widths, and all batches of a width have the same number of rows, filled up where rows are lacking.
So the same kernels run on the same sizes whatever else is asked, and a row gets the same bits in any batch and any place of it.
Where the answer depends on padding, each length is a width.
"""

from __future__ import annotations

from collections import deque
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .batches import Pieces, is_memory
from .shapes import IN_FLIGHT, Asked, Forward, Segment, Shape, Slot, widths_up_to

TOKENS = 8192  # rows x width of a batch: with twice as many a small model is a tenth faster, if they are there
WORTH = 0.5  # while one is computed, the share of the next that must be there to send it
LATE = 8  # batches that rows wait for others of their width, at most


class Stream:
    """Rows in, answers out, in batches of fixed shapes that rows of many requests share.

    fill: the arrays that the network takes beside the mask, each with its padding. left: whether padding comes first. labels: of
    each row; 0: a number for each piece. tokens: rows x width of a batch; halved until the widest shape fits into memory, before
    anything is answered. If memory runs out later, too, the rest is computed in smaller batches, whose last bits may differ.
    empty: as for Shape. padded: whether rows may be padded. An error in `send`, `take` or `finish`, or Ctrl-C, makes it forget
    all that was asked.
    """

    def __init__(
        self,
        forward: Forward,
        fill: dict[str, int],
        left: bool,
        labels: int,
        longest: int,
        tokens: int,
        device: Any,
        empty: Pieces | None = None,
        padded: bool = True,
    ) -> None:
        self.forward, self.fill, self.left, self.labels, self.device = forward, fill, left, labels, device
        least = int(empty.length[0]) if empty else 1
        self.widths = widths_up_to(max(longest, 2)) if padded else tuple(range(least, max(longest, 2) + 1))
        self.tokens, self.empty = tokens, empty
        self.sizes = {tokens}  # that `tokens` had so far
        self.shapes: dict[int, Shape] = {}
        self.waiting: dict[int, deque[Segment]] = {width: deque() for width in self.widths}
        self.rows = dict.fromkeys(self.widths, 0)  # that wait
        self.flying: deque[tuple[Shape, Slot]] = deque()
        self.number = 0  # of batches sent
        self.sent = dict.fromkeys(self.widths, 0)  # batches
        self.sent_tokens = self.asked_tokens = 0  # with padding, and without: how full batches are
        self.shape(self.widths[-1])

    @property
    def texts(self) -> int:
        """How many texts a row has."""
        return self.empty.texts if self.empty else 1

    def rows_of(self, width: int) -> int:
        """The rows of a batch, with the one that is no text."""
        return max(2, self.tokens // width)

    def shape(self, width: int) -> Shape:
        while width not in self.shapes:
            try:
                with self._here():
                    self.shapes[width] = Shape(
                        self.forward, self.fill, self.left, self.rows_of(width), width, self.device, self._pool, self.empty
                    )  # fmt: skip
            except RuntimeError as error:
                if not is_memory(error) or self.rows_of(width) <= 2:
                    raise
                self._shrink()
        return self.shapes[width]

    def _here(self) -> AbstractContextManager[Any]:
        """Makes this GPU the current one, of several."""
        import torch

        return torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()

    @cached_property
    def _pool(self) -> Any:
        """Memory that all graphs share: one runs at a time."""
        import torch

        return torch.cuda.graph_pool_handle() if self.device.type == "cuda" else None

    def _shrink(self) -> None:
        """Halves all batches."""
        import torch

        for _, slot in self.flying:
            slot.wait()
        self.tokens //= 2
        self.sizes.add(self.tokens)
        self.shapes.clear()
        self.__dict__.pop("_pool", None)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()

    def ask(self, pieces: Pieces) -> Asked:
        """Queues rows, at least one; the longest come first."""
        if pieces.length[0] > self.widths[-1]:
            raise ValueError(f"expected at most {self.widths[-1]} pieces of a text, got {pieces.length[0]}")
        labels = (len(pieces), self.labels)
        answers = np.empty(labels, np.float32) if self.labels else np.empty(int(pieces.start[-1]), np.int64)
        asked = Asked(pieces, answers, len(pieces))
        width = np.searchsorted(self.widths, pieces.length)  # falls from row to row
        cuts = [0, *(np.flatnonzero(np.diff(width)) + 1).tolist(), len(pieces)]
        for begin, end in pairwise(cuts):
            wide = self.widths[width[begin]]
            self.waiting[wide].append(Segment(asked, begin, end, self.number))
            self.rows[wide] += end - begin
        self.asked_tokens += int(pieces.start[-1])
        return asked

    @property
    def busy(self) -> bool:
        """Whether rows wait or are being computed."""
        return bool(self.flying) or any(self.waiting.values())

    def send(self, hurry: bool = False) -> None:
        """Sends batches that are worth it. If the GPU has nothing to do, or with `hurry`, also the fullest of the others."""
        while len(self.flying) < IN_FLIGHT and (width := self._next(hurry or self._idle)):
            segments: list[Segment] = []
            try:
                shape = self.shape(width)
                segments = self._cut(width)
                with self._here():
                    self.flying.append((shape, shape.send(segments)))
            except BaseException as error:
                if isinstance(error, RuntimeError) and is_memory(error) and self.rows_of(width) > 2:
                    self._put_back(width, segments)
                    self._shrink()
                    continue
                self.clear()
                raise
            self.number += 1
            self.sent[width] += 1
            self.sent_tokens += shape.room

    def _cut(self, width: int) -> list[Segment]:
        """Takes the rows of a batch that have waited longest."""
        segments, queue, room = list[Segment](), self.waiting[width], self.rows_of(width) - 1
        while queue and room:
            segments.append(queue[0].cut(room))
            room -= len(segments[-1])
            if not len(queue[0]):
                queue.popleft()
        self.rows[width] -= sum(map(len, segments))
        return segments

    def _put_back(self, width: int, segments: list[Segment]) -> None:
        """Lets rows wait once more."""
        self.waiting[width].extendleft(reversed(segments))
        self.rows[width] += sum(map(len, segments))

    @property
    def _idle(self) -> bool:
        """Whether the GPU has computed everything that was sent, taken or not."""
        return all(slot.arrived for _, slot in self.flying)

    def _next(self, hurry: bool) -> int:
        """The width of the next batch; 0: none is worth it."""
        share = {width: rows / (self.rows_of(width) - 1) for width, rows in self.rows.items() if rows}
        if not share:
            return 0
        oldest = min(share, key=lambda width: self.waiting[width][0].number)
        if self.number - self.waiting[oldest][0].number > LATE:
            return oldest
        best = max(share, key=share.__getitem__)
        return best if hurry or share[best] >= WORTH else 0

    def take(self, wait: bool = False) -> list[Asked]:
        """Takes answers that have arrived. Returns the requests that are complete now. wait: for one batch at least."""
        done = []
        try:
            while self.flying and (wait or self.flying[0][1].arrived):
                shape, slot = self.flying.popleft()
                for part in shape.take(slot):
                    part.asked.left -= len(part)
                    if not part.asked.left:
                        done.append(part.asked)
                wait = False
        except BaseException:
            self.clear()
            raise
        return done

    def finish(self, asked: Asked) -> npt.NDArray[Any]:
        """Computes until a request is complete. Returns its answers."""
        while asked.left:
            if not self.busy:
                raise RuntimeError("expected rows that wait for answers, got some that were forgotten after an error")
            self.send(hurry=True)
            self.take(wait=True)
        return asked.answers

    def clear(self) -> None:
        """Forgets everything that was asked."""
        for width, queue in self.waiting.items():
            queue.clear()
            self.rows[width] = 0
        self.flying.clear()
        for shape in self.shapes.values():
            shape.reset()
