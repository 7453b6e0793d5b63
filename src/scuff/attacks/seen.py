"""What a victim sees of texts that are longer than it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ..text.reading import Reading


@dataclass(eq=False)
class Seen:
    """Writes what a victim sees of candidates for long texts, however long: words that it reads, with the edits among them.

    hit: how many words each edit may take away. start, stop, new: of each edit.
    """

    reading: Reading
    hit: list[int]
    start: list[int]
    stop: list[int]
    new: list[str]
    # by row and the edits that the victim sees
    known: dict[tuple[int, tuple[int, ...]], str] = field(default_factory=dict)

    @cached_property
    def long(self) -> list[bool]:
        return self.reading.long.tolist()

    @cached_property
    def ends(self) -> list[list[int]]:
        """Where the words of each long text end."""
        edges = self.reading.edges.tolist()
        return [
            self.reading.stop[a:b].tolist() if long else []
            for a, b, long in zip(edges, edges[1:], self.long, strict=False)
        ]

    def __call__(self, row: int, text: str, state: tuple[int, ...]) -> str:
        """What the victim sees of a long text with some of its edits, in order of their places."""
        ends, most = self.ends[row], self.reading.most
        end, shown = ends[most - 1], 0
        for shown, one in enumerate(state, 1):
            if self.start[one] > end:
                shown -= 1
                break
            most += self.hit[one]
            end = ends[most - 1] if most <= len(ends) else len(text)
        visible = state[:shown]
        if (found := self.known.get((row, visible))) is None:
            parts, at = list[str](), 0
            for one in visible:
                parts += (text[at : self.start[one]], self.new[one])
                at = self.stop[one]
            found = self.known[row, visible] = self.reading.first("".join((*parts, text[at : max(at, end)])))
        return found
