"""Pieces of a report page: escaped and marked text, tables, tiles, and the page itself, which loads no other files."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template

from ..data.dataset import joined
from ..runs.display import Span, edits_of, in_short
from ..runs.folder import Folder
from ..runs.schema import Answer, Edit, Estimate, RunFile, Target, Texts
from .command import repeating
from .formatting import percent

UNSEEN = ("Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp")  # Unicode categories of invisible characters


def write_page(folder: Folder, title: str, parts: Sequence[str], name: str = "report.html") -> None:
    """Writes a page, by default report.html. title: text; parts: markup."""
    page = Template((Path(__file__).with_name("templates") / "page.html").read_text(encoding="utf-8"))
    folder.write(name, page.substitute(title=escape(title), body="\n".join(parts)))


def escaped(text: str) -> str:
    """Returns text as markup, with invisible characters shown as their numbers and line ends as arrows."""
    out = []
    for char in text:
        if char == "\n":
            out.append('<span class="unseen">↵</span>')
        elif unicodedata.category(char) in UNSEEN and char != "\t":
            out.append(f'<span class="unseen">{ord(char):04X}</span>')
        else:
            out.append(escape(char))
    return "".join(out)


def marked(text: str, edits: Sequence[Span], most: int = 600) -> str:
    """Returns a text as markup that shows what was deleted and inserted. A long one is cut around its edits.

    edits: in order. most: the length after which the rest is cut off.
    """
    out: list[str] = []
    at = shown = 0
    for start, stop, new in edits:
        kept = text[at:start]
        if len(kept) > 160:  # keep only what is beside the edits
            kept = (kept[:60] if out else "") + " … " + kept[-80:]
        out += [escaped(kept), f"<del>{escaped(text[start:stop])}</del>" if stop > start else ""]
        out.append(f"<ins>{escaped(new)}</ins>" if new else "")
        at, shown = stop, shown + len(kept) + stop - start + len(new)
        if shown > most:
            return "".join(out) + " …"
    rest = text[at:]
    return "".join(out) + escaped(rest if len(rest) <= 200 else rest[:160] + " …")


def example(head: str, texts: Texts, edits: list[Edit], more: Mapping[str, str] | None = None) -> str:
    """Returns the texts of an example with their edits marked. head, and the values of `more`: markup; its keys are text."""
    begin = '<p dir="auto">' if more else "<p>"
    shown = [f"{begin}{marked(joined(text), edits_of(edits, column))}</p>" for column, text in enumerate(texts)]
    shown += [
        f'<p dir="auto"><span class="soft">{escape(what)}:</span> {text}</p>' for what, text in (more or {}).items()
    ]
    return f'<div class="example"><p class="soft">{head}</p>{"".join(shown)}</div>'


def answer_text(answer: Answer | Target) -> str:
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
