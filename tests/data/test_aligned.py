"""Files that belong together line by line: encodings, line ends, gzip, and files that do not fit together."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scuff.data import aligned
from scuff.data.aligned import aligned_blocks
from scuff.data.formats.streams import BadInput


def read(columns: dict[str, Any], encoding: str | None = None) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {name: [] for name in columns}
    for block in aligned_blocks(columns, encoding):
        for name, texts in block.items():
            out[name] += texts
    return out


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("é 1\n\nlast\n".encode(), None), ("é 1\r\n\r\nlast\r\n".encode(), None), ("é 1\n\nlast".encode(), None),
        ("\ufeffé 1\n\nlast".encode(), None), (gzip.compress("é 1\n\nlast\n".encode()), None),
        ("é 1\n\nlast\n".encode("latin-1"), "latin-1"), ("é 1\r\n\r\nlast".encode("utf-16"), "utf-16"),
    ],
)  # fmt: skip
def test_one_text_per_line(content: bytes, encoding: str | None, tmp_path: Path) -> None:
    path = tmp_path / "texts"
    path.write_bytes(content)
    assert read({"src": path}, encoding) == {"src": ["é 1", "", "last"]}


def test_only_a_line_feed_ends_a_line(tmp_path: Path) -> None:
    (tmp_path / "texts").write_bytes("a\u2028b\x0bc\x85d\re\n\n".encode())
    assert read({"src": str(tmp_path / "texts")}) == {"src": ["a\u2028b\x0bc\x85d\re", ""]}


def test_blocks_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligned, "BLOCK", 4)
    lines = [f"line {at}" for at in range(10)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    columns = {"src": tmp_path / "a.txt", "out": lines, "ref": np.array(lines)}
    assert read(columns) == dict.fromkeys(columns, lines)
    assert [len(block["src"]) for block in aligned_blocks(columns)] == [4, 4, 2]


@pytest.mark.parametrize("block", [1, 3, 100])
def test_unequal_files_are_counted(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aligned, "BLOCK", block)
    (tmp_path / "long").write_text("a\n" * 7)
    (tmp_path / "short").write_text("a\n" * 5)
    with pytest.raises(BadInput, match=r"as many texts in every file, got 7 in .*long, 5 in .*short, 6 in ref"):
        read({"src": tmp_path / "long", "adv_src": tmp_path / "short", "ref": ["a"] * 6})


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"good\nb\xe9d\n")
    with pytest.raises(
        BadInput, match=r"latin: line 2: expected UTF-8, got byte 0xe9 at byte 6 of the file.*--encoding"
    ):
        read({"src": tmp_path / "latin"})
    (tmp_path / "empty").touch()
    with pytest.raises(BadInput, match=r"empty: expected a text at least, got none"):
        read({"src": tmp_path / "empty"})
    (tmp_path / "packed").write_bytes(b"PK\x03\x04\x00\x00")
    with pytest.raises(BadInput, match=r"packed: expected text, got "):
        read({"src": tmp_path / "packed"})
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(b"text\n" * 50)[:-5])
    with pytest.raises(BadInput, match=r"damaged.gz: expected gzip data"):
        read({"src": tmp_path / "damaged.gz"})
    with pytest.raises(BadInput, match="got nothing of that name"):
        read({"src": tmp_path / "gone"})
    with pytest.raises(BadInput, match=r"expected a text for src\[1\], got none"):
        read({"src": ["a", None]})
    with pytest.raises(TypeError, match="expected str for text 0, got int"):
        read({"src": [1]})


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\nb\n")))
    assert read({"src": "-", "adv_src": ["a", "c"]}) == {"src": ["a", "b"], "adv_src": ["a", "c"]}
    with pytest.raises(BadInput, match=r"\(standard input\) for one file, got it for several"):
        read({"src": "-", "adv_src": "-"})
