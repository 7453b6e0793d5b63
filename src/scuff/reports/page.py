"""Writes pages from templates (Jinja2, autoescaped), and marks texts in them. A page is one file, which loads no other.

Text that a template gets is escaped; only what this file and `charts.py` return, as `Markup`, is not.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from ..data.dataset import joined
from ..runs.display import Span, edits_of, in_short
from ..runs.folder import Folder
from ..runs.schema import Answer, Edit, Estimate, RunFile, Target, Texts
from .characters import deceptive, is_unseen, named, names_of, shown
from .command import repeating
from .formatting import percent

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


@cache
def environment() -> Environment:
    """Returns what renders templates: everything is escaped, and a name that a page does not give is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=_seen,
    )  # fmt: skip


def _seen(value: Any) -> Any:
    """Returns what a template writes: in plain text, characters that could turn it around or hide in it as their numbers."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, *, title: str, contents: Sequence[tuple[str, str]] = (), **content: Any) -> str:
    """Returns a page from a template that extends base.html. title: of the window. contents: anchors and names of sections.

    Its policy lets the page run its own script, known by its hash, and load nothing.
    """
    style, script = (Markup((TEMPLATES / name).read_text(encoding="utf-8")) for name in ("style.css", "page.js"))
    digest = b64encode(sha256(f"\n{script}".encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    given = {"heading": title, **content, "style": style, "script": script, "policy": policy}
    return environment().get_template(template).render(title=title, contents=contents, **given)


def write_page(folder: Folder, template: str, *, name: str = "report.html", title: str, **content: Any) -> None:
    """Writes a page into a folder. content: as for `render`."""
    folder.write(name, render(template, title=title, **content))


def escaped(text: str, named_ones: Collection[str] = ()) -> Markup:
    """Returns text as markup, with invisible characters and odd spaces shown as their numbers and line ends as arrows.

    named_ones: characters that look like others, whose names a pointer shows.
    """
    out = []
    for char in text:
        if char == "\n":
            out.append('<span class="unseen">↵</span>')
        elif is_unseen(char):
            out.append(f'<span class="unseen" title="{named(char)}">{ord(char):04X}</span>')
        elif char in named_ones:
            out.append(f'<abbr title="{named(char)}">{escape(char)}</abbr>')
        else:
            out.append(escape(char))
    return Markup("".join(out))


def marked(text: str, edits: Sequence[Span], most: int = 600) -> Markup:
    """Returns a text as markup that shows what was deleted and inserted. A long one is cut around its edits.

    edits: in order. most: the length after which the rest is cut off.
    """
    out: list[str] = []
    at = shown = 0
    odd = deceptive(text, (new for _, _, new in edits))
    for start, stop, new in edits:
        kept = text[at:start]
        if len(kept) > 160:  # keep only what is beside the edits
            kept = (kept[:60] if out else "") + " … " + kept[-80:]
        out += [escaped(kept), f"<del>{escaped(text[start:stop])}</del>" if stop > start else ""]
        out.append(f"<ins>{escaped(new, odd)}</ins>" if new else "")
        at, shown = stop, shown + len(kept) + stop - start + len(new)
        if shown > most:
            return Markup("".join(out) + " …")
    rest = text[at:]
    return Markup("".join([*out, escaped(rest if len(rest) <= 200 else rest[:160] + " …")]))


@dataclass(frozen=True)
class Example:
    """An example as the macro of that name shows it. head: text or markup. more: other texts, by what they are."""

    head: str
    texts: Texts
    edits: list[Edit]
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> list[Markup]:
        """The texts with their edits marked."""
        return [marked(joined(text), edits_of(self.edits, column)) for column, text in enumerate(self.texts)]

    @property
    def characters(self) -> list[str]:
        """The names of characters that were put in and that cannot be told by looking: `о U+043E CYRILLIC SMALL LETTER O`."""
        pairs = [(joined(text), edits_of(self.edits, column)) for column, text in enumerate(self.texts)]
        found = dict.fromkeys(char for text, edits in pairs for char in deceptive(text, (new for _, _, new in edits)))
        return names_of(list(found))


def answer_text(answer: Answer | Target) -> Markup:
    """Returns an answer, or what is expected, as markup."""
    return escaped(in_short(answer)[:300])


def estimate_tile(entry: Estimate, *lines: str) -> tuple[str, list[str]]:
    """Returns a tile: a number in percent, and what stands below it, its interval last."""
    return percent(entry["value"]), [*lines, interval_line(entry)]


def interval_line(entry: Estimate) -> str:
    low, high = map(percent, entry["interval"])
    return f"95 %: {low} to {high}"


@dataclass(frozen=True)
class Repeat:
    """How to repeat a run. needs: what must be given to the command; made: what identifies the run."""

    command: str
    needs: str
    made: str

    @classmethod
    def of(cls, run: RunFile) -> Repeat:
        command, needs = repeating(run)
        number, data = run["signature"].rpartition("|run:")[2], run["data"]["digest"][:12]
        return cls(command, needs, f"scuff {run['versions']['scuff']}, run {number}, data {data}")
