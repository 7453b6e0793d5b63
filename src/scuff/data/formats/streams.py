"""Reading and writing bytes: gzip, encodings, decoding errors with their position, output files that are complete or absent."""

from __future__ import annotations

import codecs
import errno
import glob
import gzip
import io
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from ...locks import in_hand, is_left_over
from ...stores import StoreError, is_url, on_this_disk, open_url, url_size, without_query

CHUNK = 1 << 22  # bytes read at once

HEAD = 1 << 16  # bytes by which a format is recognised

BOM = "\ufeff"  # the byte order mark

GZIP = b"\x1f\x8b"

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # errors that only writing has

STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class BadInput(ValueError):
    """A user's data cannot be used; the message says what was expected and where."""


class BadRecord(BadInput):
    """One record of a file that can otherwise be read cannot be used."""


class PlainHint(BadInput):
    """Structure that is not read by itself. `message` lacks the hint that plain text would be, where only that is no use."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message + hint)
        self.message = message


class CannotWrite(OSError):
    """A file cannot be written, as when the disk is full; what was written before stays."""

    exit_code = 3  # of the command line: the run failed

    @classmethod
    def of(cls, shown: object, error: OSError) -> CannotWrite:
        return cls(f"{shown}: expected to write it, got: {error.strerror or error}")


class Source:
    """A file, or standard input for `-`, read in chunks of whole lines. Counts the bytes it has read.

    What is compressed by gzip is unpacked, whatever its name. content: bytes to read instead of the file's, if they are in
    memory already. encoding: of the text, by the name that Python has for it; default UTF-8.
    """

    def __init__(self, path: str, content: bytes | None = None, encoding: str | None = None) -> None:
        self.name = "standard input" if path == "-" else without_query(path)
        self.size = len(content) if content is not None else 0 if path == "-" else _size(path)
        self.file: IO[bytes] = io.BytesIO(content) if content is not None else _open(path)
        self.encoding = "utf-8"  # of what is written, too
        self.bom = ""  # the byte order mark, if there is one: not part of the text, but written back
        self.line = 0  # lines before the current chunk
        self.read_bytes = 0  # decompressed
        self.stream = self.file
        start = self.peek(len(GZIP))
        if (path.endswith(".gz") and content is None) or start == GZIP:
            self.stream = cast(IO[bytes], gzip.GzipFile(fileobj=self.stream))
        if encoding is not None:
            self.encoding = known_encoding(encoding, self.peek(4))
            self.stream = _buffered(_Recoded(self.stream, self.encoding, self.name))

    @classmethod
    def between(cls, path: str, start: int, stop: int, line: int) -> Source:
        """Opens the bytes from `start` to `stop` of a file in UTF-8, before which there are `line` lines.

        Raises BadInput if the file is shorter by now.
        """
        with _open(path) as file:
            file.seek(start)
            content = file.read(stop - start)
        if len(content) < stop - start:
            raise BadInput(f"{path}: expected a file that stays as it is, got one that changed while it was read")
        source = cls(path, content)
        source.stream, source.read_bytes, source.line = source.file, start, line  # gzip begins no block
        return source

    def peek(self, size: int) -> bytes:
        """Returns the first bytes, which will be read again: `size` of them, fewer if there are no more."""
        head, begin, rest = b"", self.stream.tell() if self._seekable() else 0, self.stream
        while len(head) < size:
            more = self._read(partial(cast(io.BufferedReader, self.stream).read1, size - len(head)))
            if not more:
                rest = io.BytesIO()  # a terminal would wait for more
                break
            head += more
        if self._seekable():
            self.stream.seek(begin)
        else:
            self.stream = _buffered(_Chained(head, rest))
        return head

    def done(self) -> float | None:
        """Returns the share that has been read, None if the size is not known."""
        return self.file.tell() / self.size if self.size and self.file.seekable() else None

    def chunks(self) -> Iterator[list[str]]:
        """Yields lists of decoded lines with their ends. Only a line feed ends a line."""
        while lines := self._read(lambda: self.stream.readlines(CHUNK)):
            try:
                decoded = [line.decode() for line in lines]
            except UnicodeDecodeError:
                raise self._not_utf8(lines) from None
            if self.line == 0 and decoded[0].startswith(BOM):
                self.bom, decoded[0] = BOM, decoded[0][1:]
            yield decoded
            self.line += len(lines)
            self.read_bytes += sum(map(len, lines))

    def pieces(self) -> Iterator[str]:
        """Yields the text in pieces that may end anywhere, so that one line may be longer than memory."""
        decoder, first = codecs.getincrementaldecoder("utf-8")(), True
        while True:
            block, rest = self._read(lambda: self.stream.read(CHUNK)), decoder.getstate()[0]
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError:
                self.read_bytes -= len(rest)
                raise self._not_utf8([line + b"\n" for line in (rest + block).split(b"\n")]) from None
            if first and text:
                self.bom, text, first = BOM if text.startswith(BOM) else "", text.removeprefix(BOM), False
            if text:
                yield text
            if not block:
                return
            self.line += text.count("\n")
            self.read_bytes += len(block)

    def whole(self) -> str:
        """Returns the whole text."""
        return "".join(line for lines in self.chunks() for line in lines)

    def seekable(self) -> IO[bytes]:
        """Returns the whole input as a seekable stream, which Parquet needs."""
        return self.file if self._seekable() else io.BytesIO(self.stream.read())

    def error(self, line: int, message: str) -> BadInput:
        """Returns an error that names the file and the line."""
        return BadInput(f"{self.name}: line {line}: {message}")

    def close(self) -> None:
        if sys.stdin is None or self.file is not sys.stdin.buffer:
            self.file.close()

    def _seekable(self) -> bool:
        return self.stream is self.file and self.file.seekable()

    def _read(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise BadInput(f"{self.name}: expected gzip data, got: {error}") from None

    def _not_utf8(self, lines: list[bytes]) -> BadInput:
        for at, line in enumerate(lines):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = self.read_bytes + sum(map(len, lines[:at])) + error.start
                found = f"byte 0x{line[error.start]:02x} at byte {byte} of the file"
                hint = "utf-16" if byte == 0 and line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "NAME"
                return self.error(
                    self.line + at + 1, f"expected UTF-8, got {found}; another encoding: --encoding {hint}"
                )
        raise AssertionError("called for lines that do not decode")


class _Chained(io.RawIOBase):
    """Bytes that were read already, then the stream that they came from."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self.head, self.rest = head, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self.head[: len(buffer)] or cast(io.BufferedReader, self.rest).read1(len(buffer))
        self.head = self.head[len(part) :]
        buffer[: len(part)] = part
        return len(part)


class _Recoded(io.RawIOBase):
    """A stream in some encoding, read as UTF-8."""

    def __init__(self, stream: IO[bytes], encoding: str, name: str) -> None:
        self.stream, self.encoding, self.name = stream, encoding, name
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.ready, self.read_bytes, self.ended = b"", 0, False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.ready and not self.ended:
            block = self.stream.read(len(buffer))
            self.ended, pending = not block, len(self.decoder.getstate()[0])
            try:
                self.ready = self.decoder.decode(block, self.ended).encode()
            except UnicodeDecodeError as error:
                byte, found = self.read_bytes - pending + error.start, error.object[error.start]
                raise BadInput(
                    f"{self.name}: expected {self.encoding}, got byte 0x{found:02x} at byte {byte} of the file"
                ) from None
            self.read_bytes += len(block)
        part, self.ready = self.ready[: len(buffer)], self.ready[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def _buffered(stream: io.RawIOBase) -> IO[bytes]:
    return cast(IO[bytes], io.BufferedReader(stream, HEAD))


def known_encoding(name: str, head: bytes = b"") -> str:
    """Returns an encoding by its usual name, with the byte order that `head` shows. Raises BadInput if there is none.

    The order is part of the name, so that the byte order mark stays a character of the text, which is written back.
    """
    try:
        found = codecs.lookup(name)
        if not getattr(found, "_is_text_encoding", True):
            raise LookupError
    except (LookupError, ValueError):  # ValueError: a name with a NUL character
        raise BadInput(
            f"expected the name of an encoding, such as latin-1 or utf-16, for --encoding, got {name!r}"
        ) from None
    if found.name in ("utf-16", "utf-32"):
        big = head.startswith(codecs.BOM_UTF16_BE if found.name == "utf-16" else codecs.BOM_UTF32_BE)
        return f"{found.name}-{'be' if big else 'le'}"
    return "utf-8" if found.name == "utf-8-sig" else found.name


def _open(path: str) -> IO[bytes]:
    if is_url(path):
        return open_url(path)
    if path != "-":
        try:
            return open(path, "rb")
        except OSError as error:
            raise BadInput(f"{path}: expected a file that can be read, got: {error.strerror}") from None
    if sys.stdin is None:
        raise BadInput("expected standard input, got none: it is closed")
    return sys.stdin.buffer


def _size(path: str) -> int:
    if os.path.isdir(path):
        raise BadInput(f"{path}: expected a file, got a folder")
    try:
        return url_size(path) if is_url(path) else os.path.getsize(path)
    except FileNotFoundError:
        raise BadInput(f"{without_query(path)}: expected a file, got nothing of that name") from None
    except StoreError:
        raise
    except OSError as error:
        what = "a link that leads back to itself" if error.errno == errno.ELOOP else error.strerror
        raise BadInput(f"{path}: expected a file, got: {what}") from None


class _Output(io.FileIO):
    """A file whose errors name the output that the user knows, not a temporary file, or no file at all."""

    def __init__(self, path: str | Path, shown: str, mode: str) -> None:
        self.shown = shown
        try:
            super().__init__(path, mode)
        except OSError as error:
            if error.errno in FULL:
                raise CannotWrite.of(shown, error) from None
            raise BadInput(f"{shown}: expected a file that can be written, got: {error.strerror}") from None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise CannotWrite.of(self.shown, error) from None


def open_output(path: str | Path, shown: str | Path | None = None, mode: str = "wb") -> io.BufferedWriter:
    """Opens a file to write, whose errors are of the type CannotWrite. shown: its name in them, if not its own."""
    return io.BufferedWriter(_Output(path, str(shown or path), mode))


@contextmanager
def replacing(path: str, *inputs: str) -> Iterator[IO[bytes]]:
    """Writes to a temporary name in the same folder and renames it at the end; a failure leaves nothing. `-` is stdout.

    A link stays a link, and what it points to is replaced. inputs: files that are being read. Raises BadInput if the output is
    one of them or cannot be written.
    """
    if path in STDOUT:
        with _standard_output() as out:
            yield out
    elif is_stream(path):
        with open_output(path) as device:
            yield device
    else:
        with _replaced_file(path, inputs) as out:
            yield out


def is_stream(path: str) -> bool:
    """Whether an output is written as it is, not replaced: standard output, a pipe, a device."""
    target = Path(path)
    return path in STDOUT or (target.exists() and not target.is_file() and not target.is_dir())


@contextmanager
def _standard_output() -> Iterator[IO[bytes]]:
    if sys.stdout is None:
        raise BadInput("expected standard output, got none: it is closed")
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except OSError as error:
        if error.errno not in FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python tries once more at its end
        raise CannotWrite.of("standard output", error) from None


def output_file(path: str, *inputs: str) -> Path:
    """Returns the file that an output replaces: what a link points to.

    inputs: files that are being read. Raises BadInput if the output is one of them or cannot be written.
    """
    target = Path(os.path.realpath(on_this_disk(path, "an output")))
    if path.endswith(("/", os.sep)) and not target.is_dir():
        raise BadInput(f"{path}: expected a file to write, got the name of a folder")
    if target.is_dir() or target.is_symlink() or is_stream(path):
        what = (
            "a folder"
            if target.is_dir()
            else "a pipe or a device"
            if is_stream(path)
            else "a link that leads back to itself"
        )
        raise BadInput(f"{path}: expected a file to write, got {what}")
    if not target.parent.is_dir():
        raise BadInput(f"{path}: expected a folder to write to, got nothing of the name {target.parent}")
    old = target.exists()
    there = [source for source in inputs if source != "-" and os.path.exists(source)]
    if old and any(os.path.samefile(source, target) for source in there):
        raise BadInput(f"{path}: expected an output other than the input, got the same file")
    if old and not os.access(target, os.W_OK):
        raise BadInput(f"{path}: expected a file that can be written, got one that is read-only")
    return target


def put_in_place(written: Path, target: Path) -> None:
    """Renames a file that is complete to the name of the output, whose mode it gets if there is one already."""
    _copy_mode(target, written)
    os.replace(written, target)


def _copy_mode(old: Path, new: Path) -> None:
    """Lets nobody read a file who may not read the one that it replaces."""
    if old.exists():
        os.chmod(new, stat.S_IMODE(os.stat(old).st_mode))


@contextmanager
def _replaced_file(path: str, inputs: tuple[str, ...]) -> Iterator[IO[bytes]]:
    target = output_file(path, *inputs)
    own = os.fsencode(target.name)
    name = target.name if len(own) < 200 else f"{zlib.crc32(own):08x}"  # a file system allows 255 bytes
    for other in target.parent.glob(f".{glob.escape(name)}.*.part"):
        if is_left_over(other):
            other.unlink(missing_ok=True)
    temporary = target.with_name(f".{name}.{os.getpid()}.part")
    try:
        with ExitStack() as until_renamed:
            with open_output(temporary, path) as raw:
                until_renamed.enter_context(in_hand(raw.fileno()))
                _copy_mode(target, temporary)
                if path.endswith(".gz"):
                    # without name and time, so that equal texts give equal bytes
                    with gzip.GzipFile("", "wb", 6, raw, mtime=0) as zipped:
                        yield cast(IO[bytes], zipped)
                else:
                    yield raw
            put_in_place(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
