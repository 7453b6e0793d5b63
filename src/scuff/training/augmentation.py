"""Training data with perturbed copies: labels and other columns stay, no copy is above the degree (RobTest, section 3)."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any

from ..data.columns import column_names, text_columns
from ..data.dataset import Dataset
from ..data.formats.base import Format, Record, Rows
from ..data.formats.streams import BadInput, replacing
from ..data.perturbing import Progress
from ..data.reading import read_records, training_file, training_records
from ..evaluation.dimensions import Dimension
from ..evaluation.plan import choose_dimensions, choose_meaning
from ..evaluation.settings import EvaluationSettings
from ..perturbations.plan import Tally
from ..perturbations.protect import Protect
from ..runs.settings import SIDES
from ..version import __version__
from .copies import Copies
from .mixing import TRACE, Counts, Mixer

HEAD = 100  # records by which columns are guessed


@dataclass(frozen=True)
class Augmentation:
    """What can be set; `scuff augment --help` explains each."""

    dimensions: Sequence[str] = ()
    tag: str | None = None
    mlm: str | None = None
    encoder: str | None = None
    degree: float = 0.1
    copies: int | None = None
    share: float | None = None
    ratio: str | None = None
    each: bool = False
    only_perturbed: bool = False
    trace: bool = False
    seed: int = 0
    protect: Sequence[str] = ()
    text: Sequence[str] = ()
    id: str | None = None
    side: str = "first"
    format: str | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        for name in ("dimensions", "protect", "text"):  # a single value stands for a list of one
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        if self.side not in SIDES:
            raise ValueError(f"expected {' or '.join(SIDES)} for side, got {self.side!r}")
        if self.ratio is not None and (self.each or self.copies is not None or self.share is not None):
            raise ValueError("expected a ratio, or copies with share or each, got both")

    def write(self, data: Any, output: str, progress: Progress | None = None) -> Counts:
        """Write the data with its copies, in the format that it has; data that is no file as JSON lines."""
        source = training_file(data, self.format, self.split)
        source.check_output(output)
        head = list(islice(read_records(source), HEAD))
        mixer = self._mixer(source.path, head)
        source.columns = self._columns(source.path, head) if source.kind not in ("conllu", "tokens") else ()
        with replacing(output, *(() if source.content else (source.path,))) as out:
            return self._run(source.open, mixer, out, progress)

    def rows(self, data: Any) -> list[Any]:
        """The data with its copies: dicts, or tuples if it came in tuples."""
        name, records = training_records(data, self.format, self.split)
        reader = Rows(name, records, self._columns(name, records))
        self._run(lambda: reader, self._mixer(name, records), io.BytesIO(), None)
        tuples = isinstance(data, list | tuple) and isinstance(data[0], tuple) and not self.trace
        return [tuple(row.values()) for row in reader.written] if tuples else reader.written

    def _run(self, opened: Callable[[], Format], mixer: Mixer, out: IO[bytes], progress: Progress | None) -> Counts:
        """Twice over the data: a copy may be no text that is there, so all are read before the first is written."""
        reader = opened()
        with closing(reader.source):
            for records in reader.chunks():
                mixer.remember(reader, records)
        reader = opened()
        with closing(reader.source):
            sink = reader.sink(out, TRACE if self.trace else None)
            for records in reader.chunks():
                for rows in mixer.rows(reader, records):
                    if rows:
                        sink.write_rows(rows)
                    if progress:
                        progress(reader.source, Tally(texts=mixer.made.examples))
            sink.close()
        return mixer.made

    def _mixer(self, name: str, head: Sequence[Record]) -> Mixer:
        columns = self._columns(name, head)
        tokens = any(isinstance(record.get(columns[0]), list | tuple) for record in head[:HEAD])
        sides = SIDES[self.side]
        if max(sides) >= len(columns):
            raise BadInput(f"{name}: expected two columns of texts for side {self.side}, got {', '.join(columns)}")
        config = EvaluationSettings.of(dimensions=self.dimensions, tag=self.tag, mlm=self.mlm, encoder=self.encoder)
        # no texts: what an example gets may not depend on others
        specs, left_out = choose_dimensions(config, Dataset(name, "tokens" if tokens else "single", ((),), (), ()))
        dimensions = tuple(map(Dimension.parse, specs))
        copies = Copies(
            dimensions, self.degree, self._count(), 1 if self.share is None else self.share, self.each, sides, self.seed,
            Protect(tuple(self.protect)) if self.protect else None,
            choose_meaning(config, dimensions),
        )  # fmt: skip
        made = Counts(self._signature(copies), left_out)
        return Mixer(copies, made, tokens, self.id, clean=not self.only_perturbed, trace=self.trace)

    def _count(self) -> float:
        """Copies of an example: with a ratio clean:perturbed, on average."""
        if self.ratio is None:
            return 1 if self.copies is None else self.copies
        try:
            clean, perturbed = map(float, str(self.ratio).split(":"))
            return perturbed / clean
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"expected clean:perturbed, such as 1:1 or 2:1, for ratio, got {self.ratio!r}") from None

    def _signature(self, copies: Copies) -> str:
        """Repeats the result."""
        parts = {
            "scuff": __version__, "dimensions": ",".join(dimension.spec for dimension in copies.dimensions),
            "degree": f"{copies.degree:g}", "copies": f"{copies.count:g}" + (" each" if copies.each else ""),
            "share": f"{copies.share:g}", "side": self.side, "seed": copies.seed,
            "protect": ",".join(self.protect) or "nothing", **({"meaning": copies.meaning} if copies.meaning else {}),
        }  # fmt: skip
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def _columns(self, name: str, records: Sequence[Record]) -> list[str]:
        if not records:
            raise BadInput(f"{name}: expected examples, got none")
        return text_columns(name, column_names(records), self.text)


def augment(data: Any, **options: Any) -> list[Any]:
    """Labelled data with perturbed copies of its examples, for training: a list of dicts, or of tuples if they came as such.

    data: as for `scuff.evaluate`. options: as for `scuff augment`: dimensions=["typo-g", "keyboard"] or tag, mlm, encoder,
    degree=0.1 (never exceeded), copies=1 of a share=1 of the examples, or ratio="1:1" (clean:perturbed), each=False,
    only_perturbed=False, trace=False, seed=0, protect=[], side="first", text, id, format, split.
    """
    return Augmentation(**options).rows(data)
