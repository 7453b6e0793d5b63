"""Bytes in and out: gzip by suffix, UTF-8 with the place of an error, output that appears whole or not at all."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

CHUNK = 1 << 22  # bytes read at once

BOM = "\ufeff"


class BadInput(ValueError):
    """Something is wrong with a file of the user's; the message says what was expected and where."""


class Source:
    """A file, or standard input for `-`, read in chunks of whole lines. Counts the bytes it has read.

    content: what it holds, where that was read or made before.
    """

    def __init__(self, path: str, content: bytes | None = None) -> None:
        self.name = "standard input" if path == "-" else path
        self.size = len(content) if content is not None else 0 if path == "-" else _size(path)
        self.file: IO[bytes] = io.BytesIO(content) if content is not None else _open(path)
        self.stream = cast(IO[bytes], gzip.GzipFile(fileobj=self.file)) if path.endswith(".gz") else self.file
        self.bom = ""  # the byte order mark, which is no text but is written back
        self.line = 0  # lines handed out so far
        self.read_bytes = 0  # decompressed

    def done(self) -> float | None:
        """The share that has been read, None where the size is not known."""
        return self.file.tell() / self.size if self.size and self.file.seekable() else None

    def chunks(self) -> Iterator[list[str]]:
        """Lists of decoded lines with their ends. Only a line feed ends a line."""
        while lines := self._readlines():
            try:
                decoded = [line.decode() for line in lines]
            except UnicodeDecodeError:
                raise self._not_utf8(lines) from None
            if self.line == 0 and decoded[0].startswith(BOM):
                self.bom, decoded[0] = BOM, decoded[0][1:]
            yield decoded
            self.line += len(lines)
            self.read_bytes += sum(map(len, lines))

    def whole(self) -> str:
        return "".join(line for lines in self.chunks() for line in lines)

    def seekable(self) -> IO[bytes]:
        """The whole input as something to jump around in, for formats that need it."""
        plain = self.stream is self.file and self.file.seekable()
        return self.file if plain else io.BytesIO(self.stream.read())

    def error(self, line: int, message: str) -> BadInput:
        return BadInput(f"{self.name}: line {line}: {message}")

    def close(self) -> None:
        if sys.stdin is None or self.file is not sys.stdin.buffer:
            self.file.close()

    def _readlines(self) -> list[bytes]:
        try:
            return self.stream.readlines(CHUNK)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInput(f"{self.name}: expected gzip data, got: {error}") from None

    def _not_utf8(self, lines: list[bytes]) -> BadInput:
        for at, line in enumerate(lines):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = self.read_bytes + sum(map(len, lines[:at])) + error.start
                found = f"byte 0x{line[error.start]:02x} at byte {byte} of the file"
                return self.error(self.line + at + 1, f"expected UTF-8, got {found}")
        raise AssertionError("called for lines that do not decode")


def _open(path: str) -> IO[bytes]:
    if path != "-":
        return open(path, "rb")
    if sys.stdin is None:
        raise BadInput("expected standard input, got none: it is closed")
    return sys.stdin.buffer


def _size(path: str) -> int:
    if os.path.isdir(path):
        raise BadInput(f"{path}: expected a file, got a folder")
    try:
        return os.path.getsize(path)
    except FileNotFoundError:
        raise BadInput(f"{path}: expected a file, got nothing of that name") from None


@contextmanager
def replacing(path: str, *inputs: str) -> Iterator[IO[bytes]]:
    """Write to a temporary name in the same folder and rename at the end; on any failure nothing is left. `-` is stdout."""
    target = Path(path)
    if path == "-":
        if sys.stdout is None:
            raise BadInput("expected standard output, got none: it is closed")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if target.exists() and not target.is_file() and not target.is_dir():  # a pipe or a device: nothing to rename
        with open(target, "wb") as out:
            yield out
        return
    if target.is_dir():
        raise BadInput(f"{path}: expected a file to write, got a folder")
    if not target.parent.is_dir():
        raise BadInput(f"{path}: expected a folder to write to, got nothing of the name {target.parent}")
    if any(source != "-" and target.exists() and os.path.samefile(source, target) for source in inputs):
        raise BadInput(f"{path}: expected an output other than the input, got the same file")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as raw:
            if path.endswith(".gz"):
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:  # no name, no time: same text, same bytes
                    yield cast(IO[bytes], zipped)
            else:
                yield raw
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
