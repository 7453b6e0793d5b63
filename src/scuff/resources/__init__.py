"""Data files: those that ship with Scuff (checksummed), those in installed packages, those that the user names."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..isolation import Blameless

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent


class MissingResource(Blameless, LookupError):
    """Something is not installed; the message has the command that installs it."""


@cache
def manifest() -> dict[str, dict[str, Any]]:
    """The shipped data files by name, with source, licence and checksum."""
    return tomllib.loads((HERE / "manifest.toml").read_text(encoding="utf-8"))


@cache
def load(name: str) -> bytes:
    """The bytes of a shipped data file. Raises OSError if its checksum is not that in the manifest."""
    data = (HERE / "data" / name).read_bytes()
    if sha256(data).hexdigest() != manifest()[name]["sha256"]:
        raise OSError(f"expected the checksum in manifest.toml for {name}, got another: the installation is damaged")
    return data


def package_file(package: str, path: str, *, extra: str) -> Path:
    """A data file inside an installed package, found without importing it. Raises MissingResource if it is not there."""
    from importlib.metadata import PackageNotFoundError, distribution  # takes a tenth of `import scuff`

    try:
        found = Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError:
        raise MissingResource(f"expected the package {package}, got none: pip install 'scuff[{extra}]'") from None
    if not found.is_file():
        raise MissingResource(f"expected {path} in the package {package}, got another layout: pip install -U {package}")
    return found


def modified(path: Path, what: str) -> float:
    """The time stamp of a file. Raises FileNotFoundError, which says that `what` was expected, if there is none."""
    if not path.is_file():
        raise FileNotFoundError(f"expected {what}, got no file of the name {path}")
    return path.stat().st_mtime


def read_lines(path: str | Path) -> list[str]:
    """The lines of a UTF-8 text file. Raises ValueError if it is not UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: expected UTF-8, got byte 0x{error.object[error.start]:02x} at byte {error.start}"
        ) from None


def stream_lines(path: str | Path) -> Iterator[str]:
    """The lines of a UTF-8 text file, plain or gzip, one by one, for large files. Raises ValueError for a damaged file."""
    import gzip  # needed by few

    with open(path, "rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    try:
        with (gzip.open if packed else open)(path, "rt", encoding="utf-8-sig", newline="\n") as file:
            for line in file:
                yield line.rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected UTF-8, got byte 0x{error.object[error.start]:02x}") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise ValueError(f"{path}: expected a whole gzip file, got a damaged one") from None
