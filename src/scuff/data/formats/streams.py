"""Reading and writing bytes: gzip by suffix, UTF-8 errors with their position, output files that are complete or absent."""

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

BOM = "\ufeff"  # the byte order mark


class BadInput(ValueError):
    """A user's data cannot be used; the message says what was expected and where."""


class Source:
    """A file, or standard input for `-`, read in chunks of whole lines. Counts the bytes it has read.

    content: bytes to read instead of the file's, if they are in memory already.
    """

    def __init__(self, path: str, content: bytes | None = None) -> None:
        self.name = "standard input" if path == "-" else path
        self.size = len(content) if content is not None else 0 if path == "-" else _size(path)
        self.file: IO[bytes] = io.BytesIO(content) if content is not None else _open(path)
        self.stream = cast(IO[bytes], gzip.GzipFile(fileobj=self.file)) if path.endswith(".gz") else self.file
        self.bom = ""  # the byte order mark, if there is one: not part of the text, but written back
        self.line = 0  # lines before the current chunk
        self.read_bytes = 0  # decompressed

    def done(self) -> float | None:
        """Returns the share that has been read, None if the size is not known."""
        return self.file.tell() / self.size if self.size and self.file.seekable() else None

    def chunks(self) -> Iterator[list[str]]:
        """Yields lists of decoded lines with their ends. Only a line feed ends a line."""
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
        """Returns the whole text."""
        return "".join(line for lines in self.chunks() for line in lines)

    def seekable(self) -> IO[bytes]:
        """Returns the whole input as a seekable stream, which Parquet needs."""
        plain = self.stream is self.file and self.file.seekable()
        return self.file if plain else io.BytesIO(self.stream.read())

    def error(self, line: int, message: str) -> BadInput:
        """Returns an error that names the file and the line."""
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
    """Writes to a temporary name in the same folder and renames it at the end; a failure leaves nothing. `-` is stdout.

    inputs: files that are being read. Raises BadInput if the output is one of them.
    """
    target = Path(path)
    if path == "-":
        if sys.stdout is None:
            raise BadInput("expected standard output, got none: it is closed")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if target.exists() and not target.is_file() and not target.is_dir():  # a pipe or a device is not replaced
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
                # without name and time, so that equal texts give equal bytes
                with gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
                    yield cast(IO[bytes], zipped)
            else:
                yield raw
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
