"""The formats by name, and the input file that a user names: its format, its columns of texts, its ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .base import Format, Lines, Whole
from .conll import Conllu, TokenColumns
from .csv import Csv, Tsv
from .jsonl import Jsonl
from .parquet import Parquet
from .streams import BadInput, Source

FORMATS: dict[str, type[Format]] = {
    "lines": Lines, "whole": Whole, "csv": Csv, "tsv": Tsv, "jsonl": Jsonl, "parquet": Parquet, "conllu": Conllu,
    "tokens": TokenColumns,
}  # fmt: skip

SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".pq": "parquet",
    ".conllu": "conllu", ".conll": "tokens", ".bio": "tokens", ".iob": "tokens", ".pos": "tokens", ".txt": "lines",
}  # fmt: skip

TABLES = ("csv", "tsv", "jsonl", "parquet")  # formats with named columns

TOKEN_FORMATS = ("conllu", "tokens")  # formats whose texts are lists of tokens


def format_of(path: str) -> str | None:
    """Returns the format that the suffix of a file stands for, with or without .gz; None if it is unknown."""
    return SUFFIXES.get(Path(path.removesuffix(".gz")).suffix.lower())


@dataclass
class Input:
    """A file to read: its format, the columns that hold the texts, and the column that names each record."""

    path: str
    format: str | None = None
    columns: Sequence[str] = ()
    key: str | None = None
    spans: str | None = None  # the column that holds protected spans
    carried: Sequence[str] = ()  # columns of spans that are not protected but move with the text, too
    content: bytes | None = None  # instead of the file's, for data that is not a file or cannot be read twice
    kind: str = field(init=False)  # the format, guessed from the suffix if none is given

    def __post_init__(self) -> None:
        self.kind = self.format or format_of(self.path) or "lines"
        if self.kind not in FORMATS:
            raise BadInput(f"expected {', '.join(FORMATS)} for --format, got {self.kind!r}")
        if self.columns and self.kind not in TABLES:
            raise BadInput(
                f"expected a table ({', '.join(TABLES)}) for --column, got {self.kind}: name it with --format"
            )

    def check_output(self, path: str) -> None:
        """Raises BadInput if the suffix of an output file stands for another format."""
        named = format_of(path)
        if path != "-" and named and named != self.kind and not (named == "lines" and self.kind == "whole"):
            raise BadInput(
                f"{path}: expected the format of the input, {self.kind}, got {named}: Scuff does not convert"
            )

    def source(self) -> Source:
        """Opens the file as bytes and lines."""
        return Source(self.path, self.content)

    def open(self) -> Format:
        """Opens the file in its format."""
        reader = FORMATS[self.kind](self.source(), self.columns)
        reader.carried = list(dict.fromkeys([*([self.spans] if self.spans else []), *self.carried]))
        return reader
