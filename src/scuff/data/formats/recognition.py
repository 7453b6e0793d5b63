"""Recognises what a file holds by its first bytes: JSON by its content; other structure is refused, since it would be damaged."""

from __future__ import annotations

import codecs
import csv
import json
import re

from .base import GUESSES
from .streams import BOM, BadInput, PlainHint
from .structure import CONLLU, ROWS, holds_tokens, is_yaml

# the first bytes of files that are no text, and what they are
BINARY = {
    b"PK\x03\x04": "a zip archive or a spreadsheet", b"PK\x05\x06": "a zip archive", b"\xd0\xcf\x11\xe0": "an Office file",
    b"%PDF-": "PDF", b"{\\rtf": "RTF", b"BZh": "bzip2 data", b"\xfd7zXZ\x00": "xz data", b"\x28\xb5\x2f\xfd": "zstd data",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive", b"SQLite format 3\x00": "an SQLite database", b"ARROW1": "an Arrow file",
    b"ORC": "an ORC file", b"Obj\x01": "an Avro file", b"\x93NUMPY": "a NumPy array", b"\x89HDF": "an HDF5 file",
    b"\x80\x02": "a pickled object", b"\x80\x03": "a pickled object", b"\x80\x04": "a pickled object",
    b"\x80\x05": "a pickled object",
}  # fmt: skip

PARQUET = b"PAR1"

# structured text, by the beginning of the file in lower case
MARKUP = {"<?xml": "XML", "<!doctype": "HTML or XML", "<html": "HTML", "%yaml": "YAML"}

# suffixes of structured text and of binary files
STRUCTURED = {
    ".xml": "XML", ".html": "HTML", ".htm": "HTML", ".xhtml": "HTML", ".svg": "XML", ".yaml": "YAML", ".yml": "YAML",
    ".toml": "TOML", ".ipynb": "a notebook", ".rtf": "RTF", ".xlsx": "a spreadsheet", ".xls": "a spreadsheet",
    ".ods": "a spreadsheet", ".docx": "an Office file", ".doc": "an Office file", ".odt": "an Office file", ".pdf": "PDF",
    ".pkl": "a pickled object", ".joblib": "a pickled object", ".npy": "a NumPy array", ".npz": "NumPy arrays",
    ".arrow": "an Arrow file", ".feather": "an Arrow file", ".orc": "an ORC file", ".avro": "an Avro file",
    ".db": "a database", ".sqlite": "a database", ".zip": "a zip archive", ".tar": "an archive", ".tgz": "an archive",
    ".7z": "an archive", ".bz2": "bzip2 data", ".xz": "xz data", ".zst": "zstd data",
}  # fmt: skip

# names by which the first line of a file is known to be a header
NAMES = {*GUESSES, "id", "label", "labels", "class", "category", "sentiment", "target", "stars", "rating", "premise",
         "hypothesis", "sentence1", "sentence2", "source", "summary", "title", "tokens"}  # fmt: skip

KEY = re.compile(r'\{\s*(?:\}|"(?:[^"\\]|\\.)*"\s*:)')  # the beginning of an object

READ = "lines, csv, tsv, jsonl, json, parquet, conllu or tokens"


TAR = 257, b"ustar"  # where the mark of a tar archive stands

TEXTUAL = ("XML", "HTML", "HTML or XML", "YAML", "TOML", "a notebook")  # what can be taken as a text per line

CONVERT = "write it as CSV, JSON lines or Parquet first"


def refuse_binary(name: str, head: bytes) -> None:
    """Raises BadInput for a file that is no text, whatever its name."""
    for start, what in BINARY.items():
        if head.startswith(start) and (b"\x00" in head or not _is_text(head)):
            raise BadInput(f"{name}: expected text, got {what}: {CONVERT}")
    if head.startswith(TAR[1], TAR[0]):
        raise BadInput(f"{name}: expected text, got a tar archive: unpack it first")


def _is_text(head: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)  # which may end within a character
    except UnicodeDecodeError:
        return False
    return True


def kind_of_content(name: str, head: bytes, *, suffix: str, whole: bool) -> str:
    """Returns the format of text with these first bytes: json, jsonl, parquet or lines.

    suffix: of the file's name. whole: whether these are all bytes. Raises BadInput for structure that is not known, or that
    the user has to name because it might also be plain text.
    """
    if head.startswith(PARQUET):
        return "parquet"
    text = head.decode("utf-8", "ignore").removeprefix(BOM)
    start = text.lstrip()
    found = _json(name, start, whole) if start[:1] in ("[", "{") else None
    if found:
        return found
    if suffix == ".json":
        raise BadInput(f"{name}: expected a JSON array, or a JSON object per line, got something else")
    what = STRUCTURED.get(suffix) or next(
        (what for mark, what in MARKUP.items() if start.lower().startswith(mark)), None
    )
    if what:
        raise _unknown(name, what)
    lines = text.split("\n")
    _refuse_structure(name, lines if whole else lines[:-1])
    return "lines"


def _unknown(name: str, what: str) -> BadInput:
    if what not in TEXTUAL:
        return BadInput(f"{name}: expected {READ}, got {what}: {CONVERT}")
    return PlainHint(f"{name}: expected {READ}, got {what}", ": --format lines takes it as a text per line")


def _json(name: str, start: str, whole: bool) -> str | None:
    """Returns json or jsonl, None for text that only begins with a bracket. Raises BadInput for other JSON."""
    if start[0] == "[":
        return _array(name, start, whole)
    line, end, rest = start.partition("\n")
    complete = whole or bool(end)
    record = _parsed(line) if complete else None
    if isinstance(record, dict):
        alone = whole and not rest.strip()
        if alone and record and any(all(isinstance(v, kind) for v in record.values()) for kind in (list, dict)):
            raise _one_object(name, "a dictionary of columns", "jsonl if it is one record")
        return "jsonl"
    if not KEY.match(start):
        return None
    if not complete and not re.match(r"\s*[\[{]", start[KEY.match(start).end() :]):  # type: ignore[union-attr]
        return "jsonl"  # with a long first line
    raise _one_object(name, "one object" if not complete or end else "a broken object")


def _one_object(name: str, what: str, format: str = "lines") -> BadInput:
    hint = "write an array or JSON lines (pandas: orient='records')"
    told = f"{name}: expected a JSON array, or a JSON object per line, got {what}: {hint}"
    other = f", or --format {format}"
    return PlainHint(told, other) if format == "lines" else BadInput(told + other)


def _array(name: str, start: str, whole: bool) -> str | None:
    if whole and isinstance(_parsed(start), list):
        return "json"
    first = start[1:].lstrip()
    if KEY.match(first):
        return "json"
    try:
        _, stop = json.JSONDecoder().raw_decode(first)
    except json.JSONDecodeError as error:  # no text goes on over 64 kB of one line
        return "json" if error.msg.startswith("Unterminated string") and not whole else None
    except (ValueError, RecursionError):
        return "json"
    after = first[stop:].lstrip()
    if isinstance(_parsed(start.partition("\n")[0]), list):
        raise PlainHint(
            f"{name}: expected JSON objects, got an array on each line", ": --format lines takes them as plain text"
        )
    return "json" if after.startswith(",") and _continues(after[1:].lstrip()) else None


def _continues(item: str) -> bool:
    """Whether text can be another item of an array."""
    return bool(re.match(r'["\[{\d-]|null|true|false|$', item))


def _parsed(text: str) -> object:
    """Returns the value of JSON, None if it is none; a list or a dict without content for JSON that is too much for Python."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return None
    except (ValueError, RecursionError):  # an endless number, or brackets without end: the reader says where
        return [] if text.startswith("[") else {}


def _refuse_structure(name: str, lines: list[str]) -> None:
    """Raises BadInput if lines are the rows of a table or of a token file, or YAML."""
    if holds_tokens(lines):
        kind = "conllu" if any(map(CONLLU.match, lines)) else "tokens"
        raise PlainHint(f"{name}: expected plain text, got a token file: name it with --format {kind}", " (or lines)")
    if is_yaml(lines, NAMES):
        raise _unknown(name, "YAML")
    lines = [line for line in lines if line.strip()][:ROWS]
    if len(lines) < 2:
        return
    tabs = {line.count("\t") for line in lines if "\t" in line or not line.startswith("#")}
    if len(tabs) == 1 and tabs != {0}:
        raise _table(name, "tabs: name it with --format tsv (--no-header) or tokens")
    for mark in ",;|":
        names = [field.strip(' "').lower() for field in lines[0].rstrip("\r").split(mark)]
        if len(names) < 2 or not NAMES & set(names) or len(set(names)) < len(names) or max(map(len, names)) > 40:
            continue
        try:
            sizes = {len(row) for row in csv.reader(lines, delimiter=mark)}
        except csv.Error:
            continue
        if len(sizes - {0}) == 1:
            raise _table(name, f"{mark!r}: name it with --format csv{'' if mark == ',' else f' --delimiter {mark!r}'}")


def _table(name: str, what: str) -> BadInput:
    return PlainHint(
        f"{name}: expected plain text, got columns between {what}", ", or --format lines to perturb all of it"
    )
