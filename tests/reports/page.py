"""A page taken apart: its elements, and the text in them."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br"}


class Page(HTMLParser):
    """Elements with their attributes, and the text in each example with its marks."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[tuple[tuple[str, ...], str]] = []  # (open elements, text)
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
