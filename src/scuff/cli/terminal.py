"""What the terminal can show: its streams, its width, colours, and help and lists that fit into it.

Colours come beside words and marks, never instead of them. What is piped is neither coloured nor cut.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from collections.abc import Iterator
from textwrap import indent, wrap
from typing import TextIO

STYLES = {"bold": "1", "red": "31", "green": "32", "yellow": "33"}
NARROWEST = 40  # letters of a line, below which nothing is fitted any more
WIDEST = 130  # letters of a line of prose, which is hard to read if longer


def hold_closed_streams() -> None:
    """Opens nothing in the place of closed standard streams, else files would take their numbers, and stdout the messages.

    A closed stdout stays unknown, so that what has to be written there is an error.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def coloured(stream: TextIO | None) -> bool:
    """Returns whether to write colours: NO_COLOR forbids them, FORCE_COLOR asks for them, else only a terminal gets them."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return bool(stream) and stream.isatty() and os.environ.get("TERM") != "dumb"  # type: ignore[union-attr]


def styled(text: str, *styles: str, stream: TextIO | None = None) -> str:
    """Returns a text in the styles (names of STYLES) if the stream, standard output by default, gets colours."""
    if not text or not coloured(stream or sys.stdout):
        return text
    return f"\033[{';'.join(STYLES[style] for style in styles)}m{text}\033[0m"


def window(stream: TextIO | None = None) -> int | None:
    """Returns how many letters a line of the terminal has; None for a file or a pipe, where nothing is fitted.

    The variable COLUMNS, if it is a number, is the width of a terminal, as of most programs.
    """
    stream = stream or sys.stdout
    if not stream or not stream.isatty():
        return None
    return max(NARROWEST, shutil.get_terminal_size().columns)


def filled(text: str) -> str:
    """Returns a line of prose; at a terminal, what does not fit goes on below."""
    width = window()
    return text if width is None else "\n".join(wrap(text, width, break_on_hyphens=False))


def listed(name: str, about: str, at: int) -> str:
    """Returns a line of a list, `about` in column `at`; at a terminal, what does not fit goes on below, as far right."""
    start, width = f"{name:{at - 1}} ", window()
    if width is None or len(start) + len(about) <= width:
        return start + about
    if len(start) > at or at > width // 2:  # the name needs a line of its own
        deep = min(at, 8)
        return "\n".join([name, *(" " * deep + line for line in wrap(about, max(20, width - deep)))])
    return "\n".join(
        (" " * at if number else start) + line for number, line in enumerate(wrap(about, width - at) or [""])
    )


class Help(argparse.HelpFormatter):
    """Help that fits the window: paragraphs are wrapped, examples of commands are not, their explanations go below if need be."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(line for part in text.strip("\n").split("\n\n") for line in (*_paragraph(part, width), ""))


def _paragraph(text: str, width: int) -> Iterator[str]:
    """Yields the lines of a paragraph, or of examples, which are indented or begin with the command."""
    if text.startswith("scuff "):
        text = indent(text, "  ")
    if not text.startswith("  "):
        yield from wrap(" ".join(text.split()), min(width, WIDEST), break_long_words=False, break_on_hyphens=False)
        return
    for line in re.sub(r"\n {8,}(?=\S)", " ", text).splitlines():  # an explanation that goes on
        command, gap, about = _example(line)
        if len(line) <= width or not gap:
            yield line
        else:
            yield command
            yield from wrap(about, width, initial_indent=" " * 6, subsequent_indent=" " * 6)


def _example(line: str) -> tuple[str, str, str]:
    """Returns the command of an example, the blanks behind it, and its explanation."""
    found = re.match(r"(  \S.*?)(\s{2,})(\S.*)", line)
    return (found[1], found[2], found[3]) if found else (line, "", "")
