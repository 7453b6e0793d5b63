"""The formats by name, and the input file that a user names: its format, its columns of texts, its ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ...stores import without_query
from .base import Format, Lines, Whole
from .conll import Conllu, TokenColumns
from .csv import Csv, Tsv
from .jsonl import JsonArray, Jsonl
from .parquet import Parquet
from .recognition import kind_of_content, refuse_binary
from .streams import HEAD, STDOUT, BadInput, PlainHint, Source, known_encoding

FORMATS: dict[str, type[Format]] = {
    "lines": Lines, "whole": Whole, "csv": Csv, "tsv": Tsv, "jsonl": Jsonl, "json": JsonArray, "parquet": Parquet,
    "conllu": Conllu, "tokens": TokenColumns,
}  # fmt: skip

SUFFIXES = {
    ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".jsonlines": "jsonl", ".json": "json",
    ".parquet": "parquet", ".pq": "parquet", ".conllu": "conllu", ".conll": "tokens", ".bio": "tokens", ".iob": "tokens",
    ".pos": "tokens", ".txt": "lines",
}  # fmt: skip

BY_CONTENT = (None, "lines", "json")  # what a suffix may stand for where the content decides

COPY = re.compile(r"(\.(bak|backup|old|orig|tmp|copy|save|new|\d{1,8})|~)+$", re.IGNORECASE)  # ends the name of a copy

TABLES = ("csv", "tsv", "jsonl", "json", "parquet")  # formats with named columns

TOKEN_FORMATS = ("conllu", "tokens")  # formats whose texts are lists of tokens


def format_of(path: str) -> str | None:
    """Returns the format that the suffix of a file stands for, with or without .gz; None if it is unknown."""
    return SUFFIXES.get(suffix_of(path))


def suffix_of(path: str) -> str:
    """Returns the suffix of a file in lower case, without .gz and what marks a copy, such as .bak."""
    return Path(COPY.sub("", without_query(path).removesuffix(".gz")).removesuffix(".gz")).suffix.lower()


@dataclass(frozen=True)
class Block:
    """A part of a file that begins and ends between records, and what stands before it."""

    start: int  # bytes; of Parquet, rows
    stop: int
    line: int  # lines before it
    row: int  # records before it
    whole: int  # bytes or rows of the file


@dataclass
class Input:
    """A file to read: its format, the columns that hold the texts, and the column that names each record."""

    path: str
    format: str | None = None
    columns: Sequence[str] = ()
    key: str | None = None
    spans: Sequence[str] = ()  # columns of protected spans
    carried: Sequence[str] = ()  # columns of spans that are not protected but move with the text, too
    content: bytes | None = None  # instead of the file's, for data that is not a file or cannot be read twice
    delimiter: str | None = None  # between the columns of a table; default: by the format
    no_header: bool = False  # whether a table has no header; its columns are then called 1, 2, ...
    encoding: str | None = None  # of the text; default UTF-8
    labelled: bool = False  # whether labels are needed, so that it cannot be plain text
    block: Block | None = None  # the only part of the file that is read
    header: Sequence[str] | None = None  # of a table in csv or tsv, for a block that has none
    kind: str = field(init=False)  # the format, by the suffix or else by the content if none is given
    recognised: bool = field(init=False, default=False)  # whether the content has decided against the suffix
    _opened: Source | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise BadInput(f"expected {', '.join(FORMATS)} for --format, got {self.format!r}")
        self._check_delimiter()
        if self.encoding is not None:
            known_encoding(self.encoding)
        self.kind = self.format or self._guessed()
        table = self.delimiter is not None or self.no_header
        if table and self.kind not in ("csv", "tsv"):
            flag = "--no-header" if self.delimiter is None else "--delimiter"
            raise BadInput(f"expected csv or tsv for {flag}, got {self.kind}: name it with --format")
        if self.encoding is not None and self.kind == "parquet":
            raise BadInput("expected a text format for --encoding, got parquet")
        if self.columns and self.kind not in TABLES:
            raise BadInput(
                f"expected a table ({', '.join(TABLES)}) for --column, got {self.kind}: name it with --format"
            )

    @property
    def rereadable(self) -> bool:
        """Whether it can be read twice: not a pipe."""
        return self.content is not None or (self.path != "-" and Path(self.path).is_file())

    @property
    def others(self) -> list[str]:
        """The columns beside the texts that are needed: ids and spans."""
        return [*([self.key] if self.key else []), *dict.fromkeys([*self.spans, *self.carried])]

    def _check_delimiter(self) -> None:
        self.delimiter = {"tab": "\t", "\\t": "\t"}.get(str(self.delimiter), self.delimiter)
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise BadInput(f"expected one character, or tab, for --delimiter, got {self.delimiter!r}")

    def _guessed(self) -> str:
        """Returns the format by the suffix; where that does not tell, by the delimiter or the first bytes."""
        named = format_of(self.path)
        if named not in BY_CONTENT or self.delimiter is not None or self.no_header:
            return named if named not in BY_CONTENT and named else "csv"
        source = Source(self.path, self.content, self.encoding)
        try:
            head = source.peek(HEAD)
            refuse_binary(source.name, head)
            found = kind_of_content(source.name, head, suffix=suffix_of(self.path), whole=len(head) < HEAD)
        except PlainHint as error:
            if self.labelled:
                raise BadInput(error.message.replace("expected plain text", "expected labelled data")) from None
            raise
        finally:
            if self.rereadable:
                source.close()
        if not self.rereadable:
            self._opened = source
        self.recognised = found not in (named or "lines", "lines") and suffix_of(self.path) != ".json"
        return found

    def check_output(self, path: str) -> None:
        """Raises BadInput if the suffix of an output file stands for another format."""
        named = format_of(path)
        if path in STDOUT or named in (None, self.kind) or (named == "lines" and self.kind == "whole"):
            return
        if named != format_of(self.path):  # otherwise it is as misnamed as the input
            raise BadInput(
                f"{path}: expected the format of the input, {self.kind}, got {named}: Scuff does not convert"
            )

    def source(self) -> Source:
        """Opens the file, or its block, as bytes and lines. A pipe can be read once."""
        if (block := self.block) and self.kind != "parquet":
            return Source.between(self.path, block.start, block.stop, block.line)
        source, self._opened = self._opened, None
        return source or Source(self.path, self.content, self.encoding)

    def open(self) -> Format:
        """Opens the file in its format."""
        reader = FORMATS[self.kind](self.source(), self.columns)
        if isinstance(reader, Csv):
            reader.headed = not self.no_header
            if self.delimiter is not None:
                reader.mark, reader.named = self.delimiter, True
            if self.block and (self.block.start or self.no_header):
                reader.header = self.header or ()
        if isinstance(reader, Parquet) and self.block:
            reader.part = (self.block.start, self.block.stop)
        reader.begun = self.block is not None and self.block.start > 0
        reader.carried = list(dict.fromkeys([*self.spans, *self.carried]))
        return reader
