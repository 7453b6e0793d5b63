"""A page taken apart: its elements, and the text in them."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

VOID = {"meta", "br", "input"}


class Page(HTMLParser):
    """Elements with their attributes, and the text in each example with its marks."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[tuple[tuple[str, ...], str]] = []  # (open elements, text)
        self.source = source
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(f"{tag}.{dict(attributes).get('class', '')}")

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().startswith(f"{tag}."), f"{tag} closes another element"

    def handle_data(self, data: str) -> None:
        self.words.append((tuple(self.open), data))

    def text(self, inside: str = "", without: str = "") -> str:
        """All text inside one kind of element, without another; characters that are shown as numbers are themselves again."""
        out = []
        for path, data in self.words:
            if any(p.startswith(inside) for p in path) and not (without and any(p.startswith(without) for p in path)):
                unseen = path[-1] == "span.unseen"
                out.append(data if not unseen else "\n" if data == "↵" else chr(int(data, 16)))
        return "".join(out)

    @property
    def commands(self) -> list[str]:
        """The commands that a reader can copy, in order."""
        out: list[list[str]] = []
        for tag, _ in self.tags:
            out += [[]] if tag == "pre" else []
        at = -1
        before: tuple[str, ...] = ()
        for path, data in self.words:
            if any(part.startswith("pre.") for part in path):
                at += not any(part.startswith("pre.") for part in before)
                out[at].append(data)
            before = path
        return ["".join(parts).strip() for parts in out]

    @property
    def pictures(self) -> list[ElementTree.Element]:
        """The charts; not the small pictures of their keys."""
        found = re.findall(r"<svg [^>]*role=\"img\".*?</svg>", self.source, re.DOTALL)
        return [ElementTree.fromstring(one) for one in found]

    def picture(self, *words: str) -> list[ElementTree.Element]:
        """The charts whose titles have all of these words."""
        return [one for one in self.pictures if all(word in (one.findtext("title") or "") for word in words)]


def page_at(folder: Path, name: str = "report.html") -> Page:
    """The page of a run, every element of which is closed."""
    page = Page((folder / name).read_text(encoding="utf-8"))
    assert not page.open, "every element is closed"
    return page
