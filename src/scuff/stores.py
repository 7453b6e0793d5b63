"""Files by URL, such as s3://bucket/data.jsonl: whatever fsspec reaches. fsspec is imported only where a URL is given.

Keys and other options of a store come from where its package looks for them: the environment, its own files, and fsspec's
configuration.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from inspect import signature
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any
from uuid import uuid4

from .resources import MissingResource

URL = re.compile(r"[A-Za-z][\w+.:-]*://")  # colons: chained, such as simplecache::s3://bucket/file
LOCAL = ("file://", "local://")  # a path on this disk, for which no package is needed
PASSWORD = re.compile(r"://[^/@]*:[^/@]*@")
QUERY = re.compile(r"(://[^\s?]*)\?[^\s'\"]*")  # of a URL, from the question mark on, where a key may be
# stores in which writing a file replaces it at once and folders need not be made; elsewhere a file is written and then renamed
OBJECTS = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss", "tos", "memory"}
PACKAGES = {  # that URLs of a kind need beside fsspec
    "s3": "s3fs", "s3a": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "az": "adlfs", "abfs": "adlfs", "abfss": "adlfs",
    "http": "aiohttp requests", "https": "aiohttp requests", "sftp": "paramiko", "ssh": "paramiko",
}  # fmt: skip
TIMES = ("LastModified", "last_modified", "mtime", "updated", "created")  # of a file, as stores call it
BLOCK = 1 << 16  # bytes that are taken at once from what fsspec has read ahead
NOT_THERE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class StoreError(OSError):
    """A store refused a request or did not answer."""


def is_url(named: object) -> bool:
    """Returns whether a name is the URL of a file or folder, rather than a path on this disk."""
    return isinstance(named, str) and URL.match(named) is not None


def as_path(named: str | Path | StorePath) -> Path | StorePath:
    """Returns a path on this disk, also for file:///..., or in the store of a URL.

    Raises ValueError for a Path that was made of a URL, which has lost a slash.
    """
    if not isinstance(named, str):
        first = named.parts[0] if isinstance(named, Path) and named.parts else ""
        if first.endswith(":") and first[:-1] in OBJECTS:
            raise ValueError(f"expected a URL as a string, got {named!r}")
        return named
    if named.startswith(LOCAL):
        return Path(named.split("://", 1)[1])
    return StorePath.of(named) if is_url(named) else Path(named)


def on_this_disk(named: str | Path, what: str) -> Path:
    """Returns a path on this disk. Raises ValueError for a URL. what: is to be there, in words."""
    url = is_url(named) and not str(named).startswith(LOCAL)
    found = None if url else as_path(named)  # of a URL that is refused, the package of its store is not needed
    if found is None or isinstance(found, StorePath):
        raise ValueError(f"expected a path on this disk for {what}, got {named}")
    return found


def without_query(named: str) -> str:
    """Returns a URL without what may be a key: the part behind a question mark. Paths stay as they are."""
    return named.partition("?")[0] if is_url(named) else named


def open_url(url: str) -> IO[bytes]:
    """Opens the file of a URL. Raises FileNotFoundError if there is none, StoreError if the store fails."""
    found = as_path(url)
    if isinstance(found, Path):
        return open(found, "rb")
    with found.told():
        file = found.system.open(found.key, "rb")
    return file if hasattr(file, "read1") else BufferedReader(file, BLOCK)


def url_size(url: str) -> int:
    """Returns the bytes of the file of a URL, 0 if the store does not say. Raises as `open_url` does."""
    found = as_path(url)
    if isinstance(found, Path):
        return found.stat().st_size
    with found.told():
        return int(found.system.size(found.key) or 0)


@contextmanager
def on_disk(path: Path | StorePath) -> Iterator[Path]:
    """Yields the path of a file on this disk: itself, or a copy of the same name that is deleted afterwards."""
    if isinstance(path, Path):
        yield path
        return
    with TemporaryDirectory(prefix="scuff-") as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(path.read())
        yield copy


@dataclass(frozen=True, eq=False)
class StorePath:
    """A file or folder in a store, with as much of `pathlib.Path` as run folders need.

    system: of fsspec. key: the path as it knows it. url: as the user wrote it.
    """

    system: Any
    key: str
    url: str

    @classmethod
    def of(cls, url: str) -> StorePath:
        """Opens the store of a URL. Raises MissingResource without its package, ValueError for a kind that is not known."""
        if PASSWORD.search(url):
            raise ValueError(
                "expected the password of a store in the environment or in fsspec's configuration, got it in the URL"
            )
        kind = re.split("://|::", url)[0]
        try:
            import fsspec
        except ImportError:
            raise MissingResource(f"expected the package fsspec for {kind}://, got none: {_install(kind)}") from None
        try:
            system, key = fsspec.core.url_to_fs(url)
        except ImportError as error:
            raise MissingResource(f"expected the package for {kind}://, got: {error}: {_install(kind)}") from None
        except ValueError as error:
            known = fsspec.available_protocols()
            if kind in known:
                raise ValueError(f"expected a URL of a store, got {without_query(url)}: {_line(error)}") from None
            near = get_close_matches(kind, known, 1)
            hint = f"; did you mean {near[0]}://?" if near else ", such as s3://, gs://, abfs:// and others of fsspec"
            raise ValueError(f"expected a URL of a known kind, got {without_query(url)}{hint}") from None
        except Exception as error:  # whatever a package raises while it opens a connection
            raise StoreError(f"{without_query(url)}: expected a store that answers, got: {_line(error)}") from None
        return cls(system, key.rstrip("/"), url.rstrip("/"))

    def __truediv__(self, name: str | Path) -> StorePath:
        return StorePath(self.system, f"{self.key}/{name}", f"{self.url}/{name}")

    def __str__(self) -> str:
        return self.url

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorePath) and self.url == other.url

    def __hash__(self) -> int:
        return hash(self.url)

    @property
    def name(self) -> str:
        return self.url.rsplit("/", 1)[-1]

    @property
    def shown(self) -> str:
        """The URL as messages have it."""
        return without_query(self.url)

    @property
    def kinds(self) -> set[str]:
        """The names of the store's kind, such as s3 and s3a."""
        found = self.system.protocol
        return {found} if isinstance(found, str) else set(found)

    @property
    def object_store(self) -> bool:
        """Whether writing a file replaces it at once, and folders need not be made."""
        return bool(self.kinds & OBJECTS)

    def absolute(self) -> StorePath:
        return self

    def resolve(self) -> StorePath:
        return self

    @contextmanager
    def told(self) -> Iterator[None]:
        """Turns the errors of a store into StoreError, whose message is a line. Those of files that are there, or not, stay."""
        try:
            yield
        except (*NOT_THERE, FileExistsError, StoreError) as error:
            if _is_http_trouble(error.__cause__):
                raise StoreError(f"{self.shown}: {_trouble(error.__cause__)}") from error
            raise
        except Exception as error:  # botocore, aiohttp and others have errors of their own
            raise StoreError(f"{self.shown}: {_trouble(error)}") from error

    def is_file(self) -> bool:
        with self.told():
            self.system.invalidate_cache()  # what it remembers of others' files may be old
            return bool(self.system.isfile(self.key))

    def modified(self) -> float:
        """Returns when a file was written, in seconds; 0 if the store does not say."""
        with self.told():
            self.system.invalidate_cache()
            return _seconds(self.system.info(self.key))

    def read(self) -> bytes:
        """Returns the bytes of a file. Raises FileNotFoundError if there is none."""
        with self.told():
            return bytes(self.system.cat_file(self.key, **self._at_once))

    def read_many(self, names: Sequence[str]) -> dict[str, bytes]:
        """Returns the bytes of files in this folder, asked for all at once where the store can; those that fail are left out."""
        keys = {f"{self.key}/{name}": name for name in names}
        with self.told():
            found = self.system.cat(list(keys), on_error="omit", **self._at_once)
        return {keys[key]: bytes(content) for key, content in found.items() if key in keys}

    @property
    def _at_once(self) -> dict[str, int]:
        """Options that make s3fs and adlfs read a file with one request; versions that know them ask for its size first."""
        known = signature(getattr(self.system, "_cat_file", self.system.cat_file)).parameters
        return {"max_concurrency": 1} if "max_concurrency" in known else {}

    def write(self, content: bytes, *, new: bool = False) -> None:
        """Writes a file, whole or not at all. new: raises FileExistsError if there is one; S3, GCS and Azure make sure of it."""
        try:
            with self.told():
                if new:
                    self.system.pipe_file(self.key, content, mode="create")
                elif self.object_store:
                    self.system.pipe_file(self.key, content)
                else:
                    above, _, name = self.key.rpartition("/")
                    temporary = f"{above}/.{name}.{uuid4().hex}.part"
                    self.system.pipe_file(temporary, content)
                    self.system.mv(temporary, self.key)
        except NOT_THERE as error:
            raise StoreError(f"{self.shown}: expected a bucket or folder that is there, got: {_line(error)}") from None

    def make(self) -> None:
        """Makes a folder, if the store has folders."""
        if not self.object_store:
            with self.told():
                self.system.makedirs(self.key, exist_ok=True)

    def names(self) -> list[str]:
        """Returns the names of the files and folders in this folder; [] if there is none, [""] if it is a file.

        Raises StoreError if the bucket is missing.
        """
        try:
            with self.told():
                self.system.invalidate_cache()
                found = self.system.ls(self.key, detail=False)
        except NOT_THERE as error:
            if len(str(error).split()) > 1 and self.key not in str(error):
                raise StoreError(f"{self.shown}: expected a bucket that is there, got: {_line(error)}") from None
            return []
        inside = [str(each).rstrip("/")[len(self.key) :].lstrip("/") for each in found]
        return [name for name in inside if name or len(inside) == 1]

    def files(self) -> dict[str, float]:
        """Returns the names of all files below this folder, and when each was written, in seconds."""
        try:
            with self.told():
                self.system.invalidate_cache()
                found = self.system.find(self.key, detail=True)
        except NOT_THERE:
            return {}
        return {str(key)[len(self.key) + 1 :]: _seconds(about) for key, about in found.items()}

    def copy(self, names: Sequence[str], other: StorePath) -> None:
        """Copies files of this folder to another one of the same store, without reading them here where the store can."""
        with self.told():
            self.system.copy([f"{self.key}/{name}" for name in names], [f"{other.key}/{name}" for name in names])

    def delete(self, names: Sequence[str]) -> None:
        """Deletes files of this folder. Those that are gone already do not matter."""
        for name in names if not self.object_store else ():
            with self.told(), suppress(*NOT_THERE):
                self.system.rm_file(f"{self.key}/{name}")
        if names and self.object_store:
            with self.told(), suppress(*NOT_THERE):
                self.system.rm([f"{self.key}/{name}" for name in names])


def _install(kind: str) -> str:
    """Returns the command that installs what URLs of a kind need."""
    package = PACKAGES.get(kind)
    return "pip install 'scuff[stores]'" + (f" {package}" if package else "")


def _seconds(about: dict[str, Any]) -> float:
    """Returns when a file was written, from what a store says of it."""
    found = next((about[name] for name in TIMES if about.get(name)), 0.0)
    if isinstance(found, str):
        found = datetime.fromisoformat(found.replace("Z", "+00:00"))
    return found.timestamp() if isinstance(found, datetime) else float(found)


def _is_http_trouble(cause: BaseException | None) -> bool:
    """Whether a file that is said not to be there is one that the server did not give: fsspec says that of all errors of HTTP."""
    return type(cause).__module__.startswith("aiohttp") and getattr(cause, "status", None) not in (404, 410)


def _trouble(error: BaseException | None) -> str:
    """Returns what was expected of a store and what came, in a line."""
    name = type(error).__name__
    if "Credentials" in name or "credentials" in str(error):
        return f"expected credentials in the environment, or where its package looks for them, got: {_line(error)}"
    if isinstance(error, PermissionError):
        return f"expected that it may be read and written, got: {_line(error)}"
    return f"expected a store that answers, got: {_line(error)}"


def _line(error: BaseException | None) -> str:
    """Returns an error as one line; its type where it says nothing."""
    return " ".join(QUERY.sub(r"\1", str(error)).split())[:300] or type(error).__name__
