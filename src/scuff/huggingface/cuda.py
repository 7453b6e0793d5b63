"""A network on a GPU in batches of fixed shapes: a row's answer depends on the row alone, and each shape is captured once.

Rows are padded to one of a few widths, and all batches of a width have the same number of rows, filled up where rows are lacking.
So the same kernels run on the same sizes whatever else is asked, and a row gets the same bits in any batch and any place of it.
A shape is captured as a CUDA graph when it is first needed: a replay costs one launch instead of some hundred. Rows travel as
they are, one behind the other; the graph pads them.

The last row of a batch is an empty text, as are all that fill it up. It has padding, so that no mask is all ones: transformers
leaves such a mask out, and other kernels would run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .batches import Pieces, is_memory

# inputs to float32[rows, labels], or to int64[rows, width], a number for each piece
Forward = Callable[[dict[str, Any]], Any]
Widths = tuple[int, ...]

# widths: multiples of STEP up to EVEN (the narrow ones), then EACH for every doubling. More widths waste less on padding, but
# the rows of a few requests then fill no batch
STEP, EVEN, EACH = 16, 64, 4
TOKENS = 8192  # rows x width of a batch: with twice as many a small model is a tenth faster, if they are there
IN_FLIGHT = 2  # batches on the GPU at the same time: while one is computed, the next is filled
WORTH = 0.5  # while one is computed, the share of the next that must be there to send it
LATE = 8  # batches that rows wait for others of their width, at most
WARM = 2  # passes before a shape is captured, in which libraries choose kernels and allocate


def widths_up_to(longest: int) -> Widths:
    """The widths that rows are padded to; the last one is `longest`."""
    out = list(range(STEP, EVEN + 1, STEP))
    while out[-1] < longest:
        step = out[-1] // EACH
        out += [out[-1] + step * (at + 1) for at in range(EACH)]
    return (*(width for width in out if width < longest), longest)


@dataclass(eq=False)
class Asked:
    """Rows that wait for answers. `answers` is float32[rows, labels], or int64[pieces]; it is whole once `left` is 0."""

    pieces: Pieces
    answers: npt.NDArray[Any]
    left: int


@dataclass(eq=False)
class Segment:
    """Some rows of one width, which follow each other."""

    asked: Asked
    begin: int
    end: int
    number: int  # of the batch that was sent last when they came

    def __len__(self) -> int:
        return self.end - self.begin

    def cut(self, rows: int) -> Segment:
        """Takes rows off the front."""
        front = Segment(self.asked, self.begin, min(self.end, self.begin + rows), self.number)
        self.begin = front.end
        return front


@dataclass(eq=False)
class Slot:
    """Memory of the host that a GPU copies from and to, and the batch that is in it."""

    sent: Any
    found: Any
    event: Any
    segments: list[Segment] = field(default_factory=list)

    @cached_property
    def view(self) -> Any:
        return self.sent.numpy()

    @property
    def arrived(self) -> bool:
        return self.event is None or self.event.query()

    def wait(self) -> None:
        if self.event is not None:
            self.event.synchronize()


class Shape:
    """Batches of one shape: their memory, and their graph if the network can be captured.

    A batch is sent as int32: the length of each row, then, for each array of `fill`, its values in all rows one behind the other.
    empty: the pieces of an empty text; by default one piece of padding.
    """

    def __init__(
        self,
        forward: Forward,
        fill: dict[str, int],
        left: bool,
        rows: int,
        width: int,
        device: Any,
        pool: Any,
        empty: Pieces | None = None,
    ) -> None:
        import torch

        self.forward, self.fill, self.left, self.rows, self.width = forward, fill, left, rows, width
        self.room = rows * width
        known = empty.flat if empty else {}
        self.empty = {
            name: known.get(name, np.full(int(empty.length[0]) if empty else 1, value)) for name, value in fill.items()
        }
        sent = np.zeros(rows + len(fill) * self.room, np.int32)
        self._fill_up(sent, 0, 0)
        self.input = torch.from_numpy(sent).to(device)
        self.graph: Any = None
        if device.type == "cuda":
            self._capture(pool)
        else:
            self.output = self._pass()
        self.slots = [self._slot(sent) for _ in range(IN_FLIGHT)]
        self.free = deque(self.slots)

    def _fill_up(self, sent: npt.NDArray[np.int32], rows: int, token: int) -> None:
        """Writes empty texts behind so many rows with so many pieces."""
        for at, values in enumerate(self.empty.values()):
            sent[rows : self.rows] = values.size
            count = (self.rows - rows) * values.size
            sent[self.rows + at * self.room + token :][:count] = np.tile(values, self.rows - rows)

    def _slot(self, sent: npt.NDArray[np.int32]) -> Slot:
        import torch

        cuda = self.input.is_cuda
        found = torch.empty(self.output.shape, dtype=self.output.dtype, pin_memory=cuda)
        before = torch.from_numpy(sent.copy())
        return Slot(before.pin_memory() if cuda else before, found, torch.cuda.Event() if cuda else None)

    def _capture(self, pool: Any) -> None:
        """Captures the pass. A network that cannot be captured (it waits for the GPU in the middle) is run as it is."""
        import torch

        aside = torch.cuda.Stream(self.input.device)
        aside.wait_stream(torch.cuda.current_stream(self.input.device))
        with torch.cuda.stream(aside):
            for _ in range(WARM):
                self.output = self._pass()
        torch.cuda.current_stream(self.input.device).wait_stream(aside)
        torch.cuda.synchronize(self.input.device)
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=pool, stream=aside, capture_error_mode="thread_local"):
                captured = self._pass()
        except RuntimeError as error:
            if is_memory(error):
                raise
            torch.cuda.synchronize(self.input.device)
            return
        self.graph, self.output = graph, captured

    def _pass(self) -> Any:
        """Pads the rows of `input` and runs the network on them."""
        import torch

        length = self.input[: self.rows].long()
        first, column = length.cumsum(0) - length, torch.arange(self.width, device=length.device)
        shift = (self.width - length)[:, None] if self.left else 0
        mask = column >= shift if self.left else column < length[:, None]
        place = torch.where(mask, first[:, None] + column - shift, 0)
        inputs = {}
        for at, (name, value) in enumerate(self.fill.items()):
            flat = self.input[self.rows + at * self.room :][: self.room]
            inputs[name] = torch.where(mask, flat[place].long(), value)
        with _kernels(self.width) if mask.is_cuda else nullcontext():
            return self.forward({**inputs, "attention_mask": mask.long()})

    def send(self, segments: list[Segment]) -> Slot:
        """Begins to compute a batch of at most `rows` - 1 rows."""
        slot = self.free[0]
        slot.segments, sent, rows, token = segments, slot.view, 0, 0
        for part in segments:
            pieces = part.asked.pieces
            first, last = int(pieces.start[part.begin]), int(pieces.start[part.end])
            sent[rows : rows + len(part)] = pieces.length[part.begin : part.end]
            for at, name in enumerate(self.fill):
                values = pieces.flat[name][first:last] if name in pieces.flat else self.fill[name]
                sent[self.rows + at * self.room + token :][: last - first] = values
            rows, token = rows + len(part), token + last - first
        self._fill_up(sent, rows, token)
        self.input.copy_(slot.sent, non_blocking=True)
        if self.graph is None:
            self.output = self._pass()
        else:
            self.graph.replay()
        slot.found.copy_(self.output, non_blocking=True)
        if slot.event is not None:
            slot.event.record()
        return self.free.popleft()

    def take(self, slot: Slot) -> list[Segment]:
        """Hands the answers of a batch to those who asked. Returns what was answered."""
        slot.wait()
        found, row, column = slot.found.numpy(), 0, np.arange(self.width)
        for part in slot.segments:
            rows, pieces = found[row : row + len(part)], part.asked.pieces
            if rows.ndim == 2 and rows.dtype.kind == "f":
                part.asked.answers[part.begin : part.end] = rows
            else:
                length = pieces.length[part.begin : part.end, None]
                mask = column >= self.width - length if self.left else column < length
                part.asked.answers[pieces.start[part.begin] : pieces.start[part.end]] = rows[mask]
            row += len(part)
        segments, slot.segments = slot.segments, []
        self.free.append(slot)
        return segments


def _kernels(width: int) -> AbstractContextManager[Any]:
    """The kernels of torch that are fastest for attention over so many pieces."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]) if width <= EVEN else nullcontext()


class Stream:
    """Rows in, answers out, in batches of fixed shapes that rows of many requests share.

    fill: the arrays that the network takes beside the mask, each with its padding. left: whether padding comes first. labels: of
    each row; 0: a number for each piece. tokens: rows x width of a batch; halved until the widest shape fits into memory, before
    anything is answered (`wanted` is what was asked for). If memory runs out later, too, the rest is computed in smaller batches,
    whose last bits may differ. empty: as for Shape.
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
    ) -> None:
        self.forward, self.fill, self.left, self.labels, self.device = forward, fill, left, labels, device
        self.widths, self.tokens, self.wanted, self.empty = widths_up_to(max(longest, 2)), tokens, tokens, empty
        self.shapes: dict[int, Shape] = {}
        self.waiting: dict[int, deque[Segment]] = {width: deque() for width in self.widths}
        self.rows = dict.fromkeys(self.widths, 0)  # that wait
        self.flying: deque[tuple[Shape, Slot]] = deque()
        self.number = 0  # of batches sent
        self.sent = dict.fromkeys(self.widths, 0)  # batches
        self.sent_tokens = self.asked_tokens = 0  # with padding, and without: how full batches are
        self.shape(self.widths[-1])

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
        """Sends batches that are worth it. If the GPU has nothing to do, or with `hurry`, also the fullest of the others.

        If that raises, everything that was asked is forgotten.
        """
        while len(self.flying) < IN_FLIGHT and (width := self._next(hurry or self._idle)):
            try:
                shape, room = self.shape(width), self.rows_of(width) - 1
                segments: list[Segment] = []
                queue = self.waiting[width]
                while queue and room:
                    segments.append(queue[0].cut(room))
                    room -= len(segments[-1])
                    if not len(queue[0]):
                        queue.popleft()
                self.rows[width] -= sum(map(len, segments))
                self.number += 1
                self.sent[width] += 1
                self.sent_tokens += shape.room
                with self._here():
                    self.flying.append((shape, shape.send(segments)))
            except Exception:
                self.clear()
                raise

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
        while self.flying and (wait or self.flying[0][1].arrived):
            shape, slot = self.flying.popleft()
            for part in shape.take(slot):
                part.asked.left -= len(part)
                if not part.asked.left:
                    done.append(part.asked)
            wait = False
        return done

    def finish(self, asked: Asked) -> npt.NDArray[Any]:
        """Computes until a request is complete. Returns its answers."""
        while asked.left:
            self.send(hurry=True)
            self.take(wait=True)
        return asked.answers

    def clear(self) -> None:
        """Forgets everything that was asked, after an error."""
        for width, queue in self.waiting.items():
            queue.clear()
            self.rows[width] = 0
        for shape, slot in self.flying:
            shape.free.append(slot)
        self.flying.clear()
