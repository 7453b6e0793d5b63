"""Batches of fixed shapes for a network on a GPU: the rows in them, their memory, and the pass that is captured once.

Rows travel as they are, one behind the other; the pass pads them. Captured as a CUDA graph, it costs one launch instead of some
hundred.

The last row of a batch is an empty text, as are all that fill it up. It has padding, so that no mask is all ones: transformers
leaves such a mask out, and other kernels would run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
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
IN_FLIGHT = 2  # batches on the GPU at the same time: while one is computed, the next is filled
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
        """Hands the answers of a batch to those who asked. Returns what was answered. If that raises, `reset` sets all right."""
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

    def reset(self) -> None:
        """Frees all slots, once the GPU has done with them."""
        for slot in self.slots:
            slot.wait()
            slot.segments = []
        self.free = deque(self.slots)


def _kernels(width: int) -> AbstractContextManager[Any]:
    """The kernels of torch that are fastest for attention over so many pieces."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    return sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]) if width <= EVEN else nullcontext()
