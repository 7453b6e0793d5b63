"""Writes training data with perturbed copies: labels and other columns stay, no copy exceeds the degree (RobTest, section 3)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import islice
from numbers import Real
from typing import IO, Any

from ..data.columns import HEAD, Columns, column_names, holds_lists, text_columns
from ..data.dataset import Dataset, joined
from ..data.formats.base import Format, Record, Rows
from ..data.formats.files import TOKEN_FORMATS
from ..data.formats.nested import lifted
from ..data.formats.streams import BadInput, replacing
from ..data.perturbing import ShowProgress
from ..data.records import read_records, training_file, training_records
from ..data.tables import Made, give_back, is_splits, split_name
from ..evaluation.dimensions import TAGS, Dimension
from ..evaluation.plan import choose_dimensions, choose_meaning
from ..evaluation.settings import EvaluationSettings
from ..perturbations.languages import warn_of_language
from ..perturbations.plan import whole_number
from ..perturbations.protect import Protect
from ..runs.settings import DATA, SIDES, FileSettings, by_field_name, setting
from ..specs import check_switch, known_name
from ..version import __version__
from .copies import Copies, DealtCopies
from .mixing import TRACE, Counts, Mixer
from .mixtures import Mixture

DEGREE = 0.1  # how far copies may be from their originals, by default
# settings that evaluations have, too; they are read and checked as those of an evaluation
SHARED = ("dimensions", "tag", "mlm", "encoder", "protect", "text", "side", "as_published")


@dataclass(frozen=True)
class Augmentation(FileSettings):
    """The settings of an augmentation, which `scuff augment --help` explains, and the methods that augment data."""

    dimensions: Sequence[str] = setting(
        (), "as for `scuff evaluate`; default: all of RobTest's that can run", metavar="DIMENSION"
    )
    tag: str | None = setting(
        None, "only dimensions of changes that anyone makes (general), or that evaders make (malicious)", choices=TAGS
    )
    mlm: str | None = setting(None, "masked language model for contextual, as for `scuff evaluate`", metavar="MODEL")
    encoder: str | None = setting(
        None, "measures the degree of syntax and distraction, as for `scuff evaluate`", metavar="MODEL"
    )
    as_published: bool = setting(
        False, "perturbations as their papers have them; options that you give stay (docs/published.md)"
    )
    mixture: Any = setting(
        None,
        "perturbations at strengths, in exactly equal parts, in place of dimensions and degree: 'low-mid-high(P)', "
        "'leave-one-out(P)', 'all', or a list: 'P,P@low,P@0.3,clean'",
        metavar="MIXTURE",
    )
    degree: float = setting(DEGREE, "how far copies may be from their originals; default 0.1", metavar="D")
    copies: int | None = setting(None, "perturbed copies of an example; default 1", metavar="N")
    share: float | None = setting(None, "share of the examples that get copies; default 1, which is all", metavar="S")
    ratio: str | None = setting(
        None, "clean to perturbed examples, such as 2:1, in place of copies and share", metavar="C:P"
    )
    exact: bool = setting(
        False, "shares, ratios and the parts of dimensions are exact, not only on average; a mixture's always are"
    )
    each: bool = setting(False, "make so many copies by each dimension, not by one of them")
    only_perturbed: bool = setting(False, "leave the clean examples out")
    trace: bool = setting(
        False,
        "add the columns scuff_dimension, scuff_degree (reached) and scuff_source (the example's id or number from 0)",
    )
    seed: int = setting(0, "seed of all random choices; default 0")
    protect: Sequence[str] = setting(
        (), "text that must not change, named as for `scuff perturb`; may be repeated", metavar="WHAT", many="repeated"
    )
    skip_errors: bool = setting(
        False, "exit code 0, not 3, if a dimension raised on some examples, which get no copies"
    )
    id: str | None = setting(
        None, "column that names each example: equal texts then get different copies", group=DATA, metavar="COLUMN"
    )
    side: str = setting("first", "which text of a pair to perturb; default first", group=DATA, choices=SIDES)
    split: str | None = setting(None, "split of a Hugging Face data set or of toy:...; default train", group=DATA)

    @classmethod
    def of(cls, **keywords: Any) -> Augmentation:
        """Returns the settings with these names. Raises ValueError for unknown names and wrong values."""
        given, known = by_field_name(cls, keywords), dict.fromkeys(each.name for each in fields(cls))
        for name in given:
            known_name(name, known, "a setting of augment")
        return cls(**given)

    def __post_init__(self) -> None:
        _ = self.settings  # raises ValueError for a wrong value
        for each in fields(self):
            value, kind = getattr(self, each.name), str(each.type)
            if kind == "bool":
                check_switch(value, f"augment.{each.name}")
            number = each.name in ("degree", "copies", "share") and not (value is None and "None" in kind)
            if number and (isinstance(value, bool) or not isinstance(value, Real)):
                raise ValueError(f"expected a number for augment.{each.name}, got {value!r}")
        whole_number(self.seed, "augment.seed")
        if self.mixture is not None and (self.settings.dimensions or self.tag or self.each or self.degree != DEGREE):
            raise ValueError("expected a mixture, or dimensions (or a tag) with degree or each, got both")
        if self.mixture is not None and (self.mlm or self.encoder):
            raise ValueError(
                "expected models inside a mixture, as contextual(mlm='MODEL'), got mlm or encoder beside it"
            )
        if self.mixture is not None:
            _ = self._mixture  # raises ValueError for a wrong one
        if self.ratio is not None and (self.each or self.copies is not None or self.share is not None):
            raise ValueError("expected a ratio, or copies with share or each, got both")

    @cached_property
    def settings(self) -> EvaluationSettings:
        """The settings that an evaluation has, too. Raises ValueError for a wrong value."""
        return EvaluationSettings.of(**{name: getattr(self, name) for name in SHARED})

    def write(self, data: Any, output: str, progress: ShowProgress | None = None) -> Counts:
        """Writes the data with its copies in its own format, data that is not a file as JSON lines. Returns the counts."""
        source = training_file(data, self.described)
        source.check_output(output)
        head = list(islice(read_records(source), HEAD))
        mixer = self.mixer(source.path, head)
        source.columns = self.columns(source.path, head) if source.kind not in TOKEN_FORMATS else ()
        with replacing(output, *(() if source.content else (source.path,))) as out:
            return self._run(source.open, mixer, out, progress)

    def rows(self, data: Any) -> Any:
        """Returns the data with its copies, in its type: `give_back` says how; of a file, a list of dicts.

        Of several splits, the one to train on has copies then; the others are what they were.
        """
        if is_splits(data):
            split = split_name(data, self.split)
            return type(data)({**data, split: self.rows(data[split])})
        name, records = training_records(data, self.described)
        reader = Rows(name, records, self.columns(name, records))
        made = self._run(lambda: reader, self.mixer(name, records), io.BytesIO(), None)
        if made.failures.count and not self.skip_errors:
            raise RuntimeError(f"{made.failures.lines[0]} (skip_errors=True: without copies of such examples)")
        if made.failures.count:
            what = f"{made.failures.count} of {made.examples} examples get no copies: {'; '.join(made.failures.lines)}"
            warnings.warn(what, RuntimeWarning, 3)
        return give_back(data, Made(reader.written, reader.sources, reader.columns, TRACE if self.trace else {}))

    def _run(self, opened: Callable[[], Format], mixer: Mixer, out: IO[bytes], progress: ShowProgress | None) -> Counts:
        """Reads the data twice: all texts must be known before the first copy, which may not be equal to one of them."""
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
                        progress(reader.source.done(), mixer.made.examples)
            sink.close()
        return mixer.made

    def mixer(self, name: str, head: Sequence[Record]) -> Mixer:
        """Opens the dimensions and checks the settings against the first records."""
        columns, mixer = self.columns(name, head), self.opened(name, self.is_of_tokens(name, head))
        texts = (joined(row[column]) for row in head for column in columns if isinstance(row.get(column), str | list))
        warn_of_language(mixer.copies.perturbations, texts, stacklevel=4)
        return mixer

    def is_of_tokens(self, name: str, head: Sequence[Record]) -> bool:
        """Returns whether the texts of records are lists of tokens. Raises BadInput if a side that is asked for is not there."""
        columns = self.columns(name, head)
        if max(SIDES[self.side]) >= len(columns):
            raise BadInput(f"{name}: expected two columns of texts for side {self.side}, got {', '.join(columns)}")
        return holds_lists([lifted(record, columns) for record in head[:HEAD]], columns[0])

    def opened(self, name: str, tokens: bool) -> Mixer:
        """Opens the dimensions. tokens: whether texts are lists of tokens."""
        copies, left_out = self._dealt(tokens) if self.mixture is not None else self._by_dimension(name, tokens)
        made, exact = Counts(self._signature(copies), left_out), self.exact or self.mixture is not None
        return Mixer(copies, made, tokens, self.id, clean=not self.only_perturbed, trace=self.trace, exact=exact)

    def _by_dimension(self, name: str, tokens: bool) -> tuple[Copies | DealtCopies, dict[str, str]]:
        """Returns copies by dimensions, and why some of the default ones were left out."""
        # a data set without texts, since the copies of an example must not depend on other examples
        specs, left_out = choose_dimensions(
            self.settings, Dataset(name, "tokens" if tokens else "single", ((),), (), ()), any_paper=True
        )
        dimensions = tuple(map(Dimension.parse, specs))
        return Copies(
            dimensions, self.degree, self._count(), self._share, self.each, SIDES[self.side], self.seed, self._protect,
            choose_meaning(self.settings, dimensions),
        ), left_out  # fmt: skip

    def _dealt(self, tokens: bool) -> tuple[Copies | DealtCopies, dict[str, str]]:
        """Returns copies by the mixture, and why some perturbations of it were left out."""
        mixture = self._mixture.for_tokens() if tokens else self._mixture
        copies = DealtCopies(
            mixture, self._count(), self._share, SIDES[self.side], self.seed, self._protect, keep=self.only_perturbed,
            measure=self.trace,
        )  # fmt: skip
        kept = {perturbation.name for perturbation in copies.perturbations}
        lost = [one.name for one in self._mixture.perturbations if one.name not in kept]
        return copies, dict.fromkeys(lost, "changes which tokens there are")

    @property
    def _share(self) -> float:
        return 1 if self.share is None else self.share

    @property
    def _protect(self) -> Protect | None:
        return Protect(self.settings.protect) if self.settings.protect else None

    @cached_property
    def _mixture(self) -> Mixture:
        return Mixture.of(self.mixture, as_published=self.as_published)

    def _count(self) -> float:
        """Returns the copies of an example; on average, if there is a ratio clean:perturbed."""
        if self.ratio is None:
            return 1 if self.copies is None else self.copies
        try:
            clean, perturbed = map(float, str(self.ratio).split(":"))
            return perturbed / clean
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"expected clean:perturbed, such as 1:1 or 2:1, for ratio, got {self.ratio!r}") from None

    def _signature(self, copies: Copies | DealtCopies) -> str:
        """Returns all that decides the result, as one line."""
        what: dict[str, Any]
        if isinstance(copies, DealtCopies):
            what, each, meaning = {"mixture": copies.mixture.signature}, "", None
        else:
            specs, each, meaning = [one.spec for one in copies.dimensions], " each" * copies.each, copies.meaning
            what = {"dimensions": ",".join(specs), "degree": f"{copies.degree:g}"}
        parts = {
            "scuff": __version__, **what, "copies": f"{copies.count:g}{each}", "share": f"{copies.share:g}",
            "side": self.side, "seed": copies.seed, "protect": ",".join(self.settings.protect) or "nothing",
            **({"meaning": meaning} if meaning else {}), **({"exact": "yes"} if self.exact else {}),
        }  # fmt: skip
        return "|".join(f"{key}:{value}" for key, value in parts.items())

    def columns(self, name: str, records: Sequence[Record]) -> list[str]:
        """Returns the columns of texts. Raises BadInput if there are no records, or no such columns."""
        if not records:
            raise BadInput(f"{name}: expected examples, got none")
        lifts = [lifted(record, self.settings.text) for record in records[:HEAD]]
        return text_columns(name, column_names(lifts), self.settings.text)

    @property
    def described(self) -> Columns:
        """What the user says about a file, as an evaluation has it."""
        return Columns(
            format=self.format,
            split=self.split,
            delimiter=self.delimiter,
            no_header=self.no_header,
            encoding=self.encoding,
        )
