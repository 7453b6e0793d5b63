"""Texts that belong together line by line, as translators write them: sources, outputs and references, a file each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from os import PathLike, fspath
from typing import Any

from .formats.recognition import refuse_binary
from .formats.streams import HEAD, BadInput, Source
from .held import held_texts

BLOCK = 10_000  # lines that are held at once


def aligned_blocks(columns: Mapping[str, Any], encoding: str | None = None) -> Iterator[dict[str, list[str]]]:
    """Yields blocks of texts, so many of each column. A column is the path of a file with a text per line, or a list of texts.

    What is compressed by gzip is unpacked; CRLF ends a line as well; `-` is standard input. Raises BadInput if the columns do
    not have as many texts, with their numbers, if there is none, or if a file is no text in that encoding (default UTF-8).
    """
    names = {name: _name(name, column) for name, column in columns.items()}
    if list(names.values()).count("standard input") > 1:
        raise BadInput("expected - (standard input) for one file, got it for several")
    readers = {name: _texts(name, column, encoding) for name, column in columns.items()}
    count = 0
    while True:
        block = {name: list(islice(reader, BLOCK)) for name, reader in readers.items()}
        sizes = {name: len(texts) for name, texts in block.items()}
        if len(set(sizes.values())) > 1:
            found = {name: count + sizes[name] + sum(1 for _ in reader) for name, reader in readers.items()}
            told = ", ".join(f"{number:,} in {names[name]}" for name, number in found.items())
            raise BadInput(f"expected as many texts in every file, got {told}")
        if not any(sizes.values()):
            break
        count += max(sizes.values())
        yield block
    if not count:
        raise BadInput(f"{', '.join(names.values())}: expected a text at least, got none")


def _name(name: str, column: Any) -> str:
    if not isinstance(column, str | PathLike):
        return name
    return "standard input" if column == "-" else fspath(column)


def _texts(name: str, column: Any, encoding: str | None) -> Iterator[str]:
    if isinstance(column, str | PathLike):
        yield from _lines(fspath(column), encoding)
        return
    for at, text in enumerate(held_texts(column)):
        if text is None:
            raise BadInput(f"expected a text for {name}[{at}], got none")
        yield text


def _lines(path: str, encoding: str | None) -> Iterator[str]:
    source = Source(path, encoding=encoding)
    try:
        if encoding is None:
            refuse_binary(source.name, source.peek(HEAD))
        for lines in source.chunks():
            for line in lines:
                yield line.removesuffix("\n").removesuffix("\r")
    finally:
        source.close()
