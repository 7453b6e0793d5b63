"""How the command line behaves: help in groups, a window of any width, colours, the browser, a quick start."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import scuff
from scuff.cli.main import COMMANDS, GROUPS, main, parser
from scuff.cli.terminal import Help, coloured, listed, styled
from scuff.reports import attack_table, score_table
from scuff.reports.formatting import folded
from scuff.runs.folder import Folder

SCUFF = [sys.executable, "-m", "scuff"]
MARK = re.compile(r"\033\[[\d;]*m")  # a colour


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal") / "run"
    flags = [
        "--dimensions",
        "typo-g",
        "keyboard",
        "--access",
        "rule",
        "score",
        "--examples",
        "20",
        "--cases",
        "1",
        "-q",
    ]
    assert main(["evaluate", "toy:sentiment", "toy:sentiment", *flags, "--encoder", "chrf", "-o", str(folder)]) == 0
    return folder


def in_terminal(width: int, *arguments: str, **environment: str) -> str:
    """What a command prints in a terminal of that width."""
    control, terminal = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    process = subprocess.Popen(
        [*SCUFF, *arguments], stdin=subprocess.DEVNULL, stdout=terminal, stderr=subprocess.STDOUT,
        env={**clean, "COLUMNS": str(width), "TERM": "xterm", **environment},
    )  # fmt: skip
    os.close(terminal)
    out = b""
    while True:
        try:
            part = os.read(control, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        out += part
    os.close(control)
    process.wait()
    return out.decode().replace("\r\n", "\n")


def piped(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SCUFF, *arguments], env={**os.environ, **environment}, capture_output=True, text=True)


# help


def test_bare_scuff_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert capsys.readouterr().out == shown and shown.startswith("usage: scuff COMMAND [options]\n")


def test_every_command_is_in_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    shown = parser("").format_help()
    assert all(re.search(rf"^  {name}  +\S", shown, re.MULTILINE) for name in COMMANDS)
    assert set(COMMANDS) <= set(grouped), "a new command has a place in GROUPS"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_window(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    shown = capsys.readouterr().out
    assert re.match(rf"usage: scuff {command} \[options\].*\n\n[A-Z]", shown), "short usage, then a sentence"
    prose = [line for line in shown.splitlines() if not re.match(r"  (scuff|eval) ", line)]  # examples are not wrapped
    flags = [line for line in prose if re.match(r"  -", line)]  # argparse keeps the names of a flag on one line
    assert max(len(line) for line in prose if line not in flags) <= 80
    assert "show this help message" in shown and "positional arguments" not in shown


def test_explanations_of_examples_go_below_them() -> None:
    text = "What it does.\n\n  scuff x FILE          reads the whole file, and then writes it again\n"
    assert Help("x")._fill_text(text, 40, "") == (
        "What it does.\n\n  scuff x FILE\n      reads the whole file, and then\n      writes it again\n"
    )
    assert Help("x")._fill_text(text, 100, "") == text


# tables


def fitting(shown: str) -> list[str]:
    """The lines of what a run found that must fit: all but commands, which are there to be copied, paths and changed texts."""
    return [
        line for line in shown.splitlines() if not re.match(r" +scuff |report: |texts: ", line) and "[-" not in line
    ]


def table(shown: str) -> str:
    """The table alone: what is above it is wrapped, and told by other tests."""
    return shown.partition(" examples\n")[2].partition("left of")[0]


@pytest.mark.slow
def test_a_table_fits_the_terminal_and_loses_nothing(run: Path) -> None:
    wide = piped("report", str(run)).stdout
    assert max(map(len, wide.splitlines())) > 100, "no cut in a pipe"
    shown = MARK.sub("", in_terminal(80, "report", str(run)))
    assert max(map(len, fitting(shown))) <= 80
    assert sorted(re.findall(r"\d+\.\d", table(shown))) == sorted(re.findall(r"\d+\.\d", table(wide)))
    assert MARK.sub("", in_terminal(200, "report", str(run))) == wide


def test_titles_stay_in_every_part_of_a_table() -> None:
    rows = [["", "first", "second"], ["seen", "", ""], ["  a", "1", "2"]]
    assert folded(rows, 12, 1) == ["      first", "seen", "  a       1", "", "      second", "seen", "  a        2"]


@pytest.mark.parametrize("width", [100, 60, 40])
def test_tables_of_any_width(run: Path, width: int) -> None:
    summary = Folder(run).evaluation_summary()
    shown = score_table(summary, width)
    assert max(map(len, shown.splitlines())) <= width
    assert sorted(re.findall(r"\d+\.\d", table(shown))) == sorted(re.findall(r"\d+\.\d", table(score_table(summary))))
    assert score_table(summary) == score_table(summary, 1000)


def test_columns_that_do_not_fit_go_below() -> None:
    rows = [["", "first", "second"], ["name", "1", "22"], ["other", "", "3"]]
    assert folded(rows, 40, 1) == ["       first  second", "name       1      22", "other              3"]
    assert folded(rows, 13, 1) == [
        "       first", "name       1", "", "       second", "name       22", "other       3"
    ]  # fmt: skip


def test_an_attack_fits_the_terminal(tmp_path: Path) -> None:
    result = scuff.attack("toy:sentiment", "toy:sentiment", "deepwordbug", tmp_path / "run", examples=5, encoder="chrf")
    shown = attack_table(result.summary, result.timings, 70)
    assert max(map(len, shown.splitlines())) <= 70 and "attack success rate" in shown
    numbers = re.compile(r"\d+\.\d")
    assert sorted(numbers.findall(shown)) == sorted(numbers.findall(str(result)))
    verdict = result.verdict.text(width=70)
    assert max(map(len, fitting(verdict))) <= 70 and result.verdict.steps[0].command in verdict


def test_lists_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert listed("name", "what it is", 10) == "name      what it is"
    monkeypatch.setattr("scuff.cli.terminal.window", lambda: 30)
    assert listed("name", "what it is and what it does", 10) == "name      what it is and what\n          it does"
    assert listed("a very long name", "what it is, too", 10).startswith("a very long name\n")
    monkeypatch.setattr("scuff.cli.terminal.window", lambda: 60)
    assert max(map(len, parser("").format_help().splitlines())) <= 60


# colours


def test_colours_only_at_a_terminal_and_never_alone(run: Path) -> None:
    check = ["check", str(run), "--min", "clean=0.1", "--min", "worst=1"]
    plain = piped(*check)
    assert plain.returncode == 1 and not MARK.search(plain.stdout)
    shown = in_terminal(100, *check)
    assert "\033[32mok  \033[0m clean" in shown and "\033[1;31mFAIL\033[0m worst" in shown
    assert MARK.sub("", shown) == plain.stdout, "the words say the same without the colours"


@pytest.mark.parametrize(
    ("terminal", "variables", "wanted"),
    [
        (True, {}, True), (False, {}, False), (True, {"NO_COLOR": "1"}, False), (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False), (False, {"FORCE_COLOR": "1"}, True), (False, {"FORCE_COLOR": "0"}, False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False), (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    ],
)  # fmt: skip
def test_who_gets_colours(
    terminal: bool, variables: dict[str, str], wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"TERM": "xterm", **variables}.items():
        monkeypatch.setenv(name, value)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    assert coloured(stream) == wanted
    assert styled("word", "bold", stream=stream) == ("\033[1mword\033[0m" if wanted else "word")


def test_errors_are_marked_at_a_terminal() -> None:
    assert in_terminal(100, "guide", "moderatoin").startswith("\033[1;31mscuff:\033[0m expected")
    assert piped("guide", "moderatoin").stderr.startswith("scuff: expected")


# the browser


def test_open(run: Path, tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\nprintf %s "$1" > "$OPENED"\n', encoding="utf-8")
    browser.chmod(0o755)
    opened = tmp_path / "opened"
    done = piped("report", str(run), "--open", "-q", BROWSER=str(browser), OPENED=str(opened))
    assert done.returncode == 0 and not done.stderr
    assert opened.read_text() == (run / "report.html").as_uri()


def test_open_without_a_browser(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    assert main(["report", str(run), "--open", "-q"]) == 0
    assert capsys.readouterr().err == f"scuff: no browser was found for --open; the page is {run}/report.html\n"


@pytest.mark.parametrize("command", ["evaluate", "attack", "report", "harden", "demo"])
def test_commands_that_write_a_page_can_open_it(command: str) -> None:
    choices = parser()._subparsers._group_actions[0].choices  # type: ignore[union-attr]
    assert "--open" in choices[command]._option_string_actions  # type: ignore[index, call-overload]


# a quick start


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], {"numpy", "webbrowser"}),
        (["guide"], {"numpy"}),
        (["perturb", "--help"], {"numpy"}),
        (["perturb", "-", "-p", "keyboard", "-q"], {"scuff.api", "scuff.attacks", "scuff.evaluation", "scuff.victims"}),
    ],
)
def test_commands_load_only_what_they_need(arguments: list[str], heavy: set[str]) -> None:
    code = (
        "import sys\nfrom scuff.cli.main import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        f"print(sorted({heavy!r} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], input="a text\n", capture_output=True, text=True)
    assert done.stderr == "[]\n", done.stderr
