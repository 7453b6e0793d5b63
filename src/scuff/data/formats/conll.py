"""Token files: CoNLL-U and columns. Tags stay with their tokens; only the form changes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .base import Extra, Format, Value, line_end
from .streams import CHUNK, BadInput

BLANK = "\\x20"  # a blank in a written comment, such as one in the options of a perturbation

ID = re.compile(r"[0-9]{1,9}(-[0-9]{1,9}|\.[0-9]{1,9})?")  # of a word, a multiword token (3-4) or an empty node (3.1)


class TokenLines(NamedTuple):
    """A sentence: its lines, and which of them hold tokens."""

    lines: list[str]  # with their ends, the blank line that closes the sentence included
    at: list[int]  # the lines that hold a token
    tokens: list[str]


class TokenColumns(Format):
    """One token per line in the first column, its tags in the others; a blank line ends a sentence.

    Columns are separated by tabs if the line has one, else by blanks. A line that starts with # and has one column is a
    comment; -DOCSTART- is not a token.
    """

    unit = "sentence"

    def chunks(self) -> Iterator[list[TokenLines]]:
        chunk: list[TokenLines] = []
        lines: list[str] = []
        size = 0
        self.seen = self.source.line  # lines before the current sentence
        for block in self.source.chunks():
            for line in block:
                lines.append(line)
                size += len(line)
                if not line.strip():
                    chunk.append(self.sentence(lines))
                    self.seen, lines = self.seen + len(lines), []
                    if size > CHUNK:
                        yield chunk
                        chunk, size = [], 0
        yield [*chunk, self.sentence(lines)] if lines else chunk

    def sentence(self, lines: list[str]) -> TokenLines:
        at = [i for i, line in enumerate(lines) if line.strip() and not self.beside(line)]
        return TokenLines(lines, at, [split(lines[i])[0] for i in at])

    @staticmethod
    def beside(line: str) -> bool:
        """Whether a line is a comment or a document separator."""
        return (line.startswith("#") and len(split(line)) == 1) or line.startswith("-DOCSTART-")

    def values(self, record: TokenLines) -> list[Value]:
        return [record.tokens]

    def is_blank(self, record: TokenLines) -> bool:
        return all(self.beside(line) or not line.strip() for line in record.lines)

    def render(self, record: TokenLines, values: list[Value], extra: Extra | None) -> str:
        new = values[0] or []
        lines = list(record.lines)
        for i, old, token in zip(record.at, record.tokens, new, strict=True):
            self.check(token, blanks="\t" in lines[i])
            lines[i] = lines[i].replace(old, token, 1)
        return self._marked(lines, extra)

    def check(self, token: str, blanks: bool) -> None:
        """Raises BadInput if a new token holds what separates columns or lines."""
        if "\t" in token or "\n" in token or (" " in token and not blanks):
            hint = "" if blanks else " (or tabs between the columns)"
            raise BadInput(
                f"{self.source.name}: expected a token without blanks{hint}, the {self.maker} made {token[:40]!r}"
            )

    def _marked(self, lines: list[str], extra: Extra | None) -> str:
        """Joins lines, after a comment for each added column. The comment has no blanks, else it would be read as a token."""
        if extra is None:
            return "".join(lines)
        end = line_end(lines[-1]) or "\n"
        closed = [*lines[:-1], lines[-1] if line_end(lines[-1]) else lines[-1] + end]
        notes = [(name, str(value).replace(", ", ",")) for name, value in extra.items() if value is not None]
        marks = "".join(f"#{name}={value.replace(' ', BLANK)}{end}" for name, value in notes)
        return marks + "".join(closed) + (end if closed[-1].strip() else "")


def in_range(number: str, words: Iterable[int]) -> list[int]:
    """Returns the numbers of the words that a multiword token such as 3-4 covers."""
    first, dash, last = number.partition("-")
    return [n for n in words if int(first) <= n <= int(last)] if dash else []


class Conllu(TokenColumns):
    """Universal Dependencies' CoNLL-U: ten columns, of which the second is the form.

    A multiword token (a range such as 1-2) changes with its words if it is their forms joined; otherwise neither changes.
    `# text` is rewritten.
    """

    @staticmethod
    def is_row(line: str) -> bool:
        """Whether a line is a row of the table: neither blank nor a comment."""
        return bool(line.strip()) and not line.startswith("#")

    @staticmethod
    def beside(line: str) -> bool:
        return line.startswith("#")

    def sentence(self, lines: list[str]) -> TokenLines:
        rows = {i: line.split("\t") for i, line in enumerate(lines) if self.is_row(line)}
        for i, row in rows.items():
            if len(row) < 2 or not ID.fullmatch(row[0]):
                found = lines[i].strip()[:40]
                raise self.source.error(self.seen + i + 1, f"expected CoNLL-U: number, tab, form, got {found!r}")
        words = {int(row[0]): i for i, row in rows.items() if row[0].isdigit()}
        for row in rows.values():
            inside = in_range(row[0], words)
            if inside and "".join(rows[words[n]][1] for n in inside) != row[1]:
                for n in inside:
                    del words[n]
        at = list(words.values())
        return TokenLines(lines, at, [rows[i][1] for i in at])

    def render(self, record: TokenLines, values: list[Value], extra: Extra | None) -> str:
        rows = [line.split("\t") for line in record.lines]
        forms = dict(zip(record.at, values[0] or [], strict=True))
        for form in forms.values():
            self.check(form, blanks=True)
        word = {int(rows[i][0]): form for i, form in forms.items()}
        for i, row in enumerate(rows):
            if self.is_row(record.lines[i]) and (inside := in_range(row[0], word)):
                forms[i] = "".join(word[n] for n in inside)
        lines = [
            "\t".join([row[0], forms[i], *row[2:]]) if i in forms else record.lines[i] for i, row in enumerate(rows)
        ]
        old_text, new_text = surface(rows, {}), surface(rows, forms)
        for i, line in enumerate(lines):
            name, sign, text = line.partition("=")
            if sign and name.split() == ["#", "text"] and new_text != old_text:
                same = text.strip() == old_text
                lines[i] = f"# text = {new_text}{line_end(line)}" if same else f"# original_text ={text}"
        return self._marked(lines, extra)


def surface(rows: list[list[str]], forms: dict[int, str]) -> str:
    """Returns the sentence as running text: forms and the blanks between them, multiword tokens instead of their words."""
    out, hidden = [], 0
    for i, row in enumerate(rows):
        if len(row) < 2 or not ID.fullmatch(row[0]) or "." in row[0]:
            continue
        if "-" in row[0]:
            hidden = int(row[0].split("-")[1])
        elif int(row[0]) <= hidden:
            continue
        out.append(forms.get(i, row[1]) + ("" if "SpaceAfter=No" in row[-1] else " "))
    return "".join(out).strip()


def split(line: str) -> list[str]:
    """Splits a line into columns, at tabs if it has one, else at blanks."""
    bare = line.rstrip("\r\n")
    return bare.split("\t") if "\t" in bare else bare.split()
