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
from .characters import deceptive, is_unseen, named, names_of
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
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip


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


def example(head: str, texts: Texts, edits: list[Edit], more: Mapping[str, str] | None = None) -> str:
    """Returns the texts of an example with their edits marked. head, and the values of `more`: markup; its keys are text."""
    begin = '<p dir="auto">' if more else "<p>"
    shown = [f"{begin}{marked(joined(text), edits_of(edits, column))}</p>" for column, text in enumerate(texts)]
    shown += [
        f'<p dir="auto"><span class="soft">{escape(what)}:</span> {text}</p>' for what, text in (more or {}).items()
    ]
    return f'<div class="example"><p class="soft">{head}</p>{"".join(shown)}</div>'


def answer_text(answer: Answer | Target) -> Markup:
    """Returns an answer, or what is expected, as markup."""
    return escaped(in_short(answer)[:300])


def table(head: list[str], rows: list[list[str]], kind: str = "") -> str:
    """Returns a table. Cells are markup, names of columns are text."""
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def tile(value: str, *lines: str) -> str:
    """Returns one large number with markup below it."""
    return f'<div class="tile"><b>{value}</b><span>{"<br>".join(lines)}</span></div>'


def estimate_tile(entry: Estimate, *lines: str) -> str:
    return tile(percent(entry["value"]), *lines, interval_line(entry))


def interval_line(entry: Estimate) -> str:
    low, high = map(percent, entry["interval"])
    return f"95 %: {low} to {high}"


SIX = 6  # tiles, which would leave one alone in a second row


def head(title: str, about: str, tiles: list[str], notes: list[str]) -> str:
    """Returns the top of a page. title, notes: text; about: markup."""
    lines = "".join(f"<li>{escape(line)}</li>" for line in notes)
    return (
        f'<h1>{escape(title)}</h1><p class="soft">{about}</p>'
        f'<div class="tiles{" six" if len(tiles) == SIX else ""}">{"".join(tiles)}</div><ul class="soft">{lines}</ul>'
    )


def card(title: str, picture: str) -> str:
    return f'<div class="card"><h4>{title}</h4>{picture}</div>'


def folded(title: str, content: str) -> str:
    """Returns markup that is hidden until the reader opens it."""
    return f"<details><summary>{title}</summary>{content}</details>"


def items(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def repeating_line(run: RunFile) -> str:
    """Returns how to repeat a run, and what identifies it; run.json has its whole signature."""
    command, needs = repeating(run)
    made, number, data = run["versions"]["scuff"], run["signature"].rpartition("|run:")[2], run["data"]["digest"][:12]
    return (
        f'<p class="soft">To repeat this run: <code>{escape(command)}</code>{f" ({escape(needs)})" if needs else ""}.<br>'
        f"scuff {escape(made)}, run {escape(number)}, data {data}; run.json has every setting.</p>"
    )
