"""`scuff completion`: the scripts are sourced by the shells themselves, and what they complete is read."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from scuff.cli.completion import commands, known_names
from scuff.cli.main import COMMANDS, main, parser
from scuff.perturbations.names import NAMES

CASES = [  # what is typed, and some of what must be offered; nothing else of the kind
    ("scuff ev", {"evaluate"}),
    ("scuff evaluate --dim", {"--dimensions"}),
    ("scuff evaluate m d --dimensions key", {"keyboard"}),
    ("scuff evaluate m d --dimensions keyboard vis", {"visual"}),
    ("scuff perturb in.txt -l ", {"low", "mid", "high"}),
    ("scuff attack m d --recipe deep", {"deepwordbug"}),
    ("scuff judge ex", {"export"}),
    ("scuff judge export --study val", {"validity"}),
    ("scuff check my", {"my run"}),
    ("scuff describe inner", {"inner-shuffle"}),
    ("scuff list sh", {"shields"}),
    ("scuff guide mod", {"moderation"}),
    ("scuff evaluate --seed ", set()),
]
TYPED = [typed for typed, _ in CASES]


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script of every shell, written by the command, and a folder with a blank in its name."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "my run").mkdir()
    for shell in ("bash", "zsh", "fish"):
        with open(folder / f"scuff.{shell}", "w", encoding="utf-8") as out, pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", out)
            assert main(["completion", shell]) == 0
    return folder


def need(shell: str) -> str:
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not installed")
    return found


def offered(shell: str, script: str, folder: Path) -> list[str]:
    """What a script of a shell prints, a line for each of CASES."""
    done = subprocess.run([need(shell), "-c", script], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split("==\n")[1:]


def test_bash(scripts: Path) -> None:
    typed = " ".join(f"'{line}'" for line in TYPED)
    script = f"""source scuff.bash
    for line in {typed} 'scuff evaluate toy:s' 'scuff evaluate --dimensions=key'; do
        COMP_LINE="$line" COMP_POINT=${{#line}} COMPREPLY=(); _scuff; echo ==; printf '%s\\n' "${{COMPREPLY[@]}}"
    done"""
    found = [set(filter(None, part.splitlines())) for part in offered("bash", script, scripts)]
    assert found[:-2] == [wanted for _, wanted in CASES]
    assert found[-2:] == [{"sentiment"}, {"keyboard"}], "bash takes what is before : and = for words of their own"


def test_fish(scripts: Path) -> None:
    typed = " ".join(f"'{line}'" for line in TYPED)
    script = f"source scuff.fish; for line in {typed}; echo ==; complete -C $line; end"
    found = [
        {line.split("\t")[0].rstrip("/") for line in part.splitlines()} for part in offered("fish", script, scripts)
    ]
    assert found == [wanted for _, wanted in CASES]


def press_tab(shell: list[str], typed: str, folder: Path, start: str) -> str:
    """What a line in a real terminal has become after Tab: the shell is asked to print it."""
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover - the shell itself
        os.chdir(folder)
        os.execvpe(shell[0], shell, {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "PS1": "> "})
    try:
        os.write(terminal, f"{start}; scuff() {{ printf '<%s>' \"$@\"; }}; echo rea''dy\n".encode())
        read_until(terminal, "ready\r\n")
        os.write(terminal, f"{typed}\t".encode())
        time.sleep(0.5)  # the shell completes before it reads on
        os.write(terminal, b"\necho do''ne\n")
        return read_until(terminal, "done\r\n")
    finally:
        os.write(terminal, b"\nexit\n")
        with suppress(OSError):
            read_until(terminal, "\0", 1)
        os.close(terminal)
        os.waitpid(child, 0)


def read_until(terminal: int, end: str, seconds: float = 20) -> str:
    out, limit = "", time.monotonic() + seconds
    while end not in out and time.monotonic() < limit:
        if select.select([terminal], [], [], 0.1)[0]:
            out += os.read(terminal, 4096).decode(errors="replace")
    return out


@pytest.mark.parametrize(("typed", "became"), [("scuff eval", "<evaluate>"), ("scuff check my", "<check><my run/>")])
def test_tab_in_bash(typed: str, became: str, scripts: Path) -> None:
    shown = press_tab([need("bash"), "--norc", "-i"], typed, scripts, "source scuff.bash")
    assert became in shown, shown


@pytest.mark.parametrize(
    ("typed", "became"),
    [
        ("scuff eval", "<evaluate>"),
        ("scuff judge exp", "<judge><export>"),
        ("scuff perturb -p inner", "<inner-shuffle>"),
    ],
)
def test_tab_in_zsh(typed: str, became: str, scripts: Path) -> None:
    start = "autoload -Uz compinit; compinit -u -D; source ./scuff.zsh"
    shown = press_tab([need("zsh"), "-f", "-i"], typed, scripts, start)
    assert became in shown, shown


def test_everything_is_in_the_scripts(scripts: Path) -> None:
    known = {command.path: command for command in commands(parser(), known_names())}
    assert {path[0] for path in known if path} == set(COMMANDS) and ("judge", "import") in known
    dimensions = next(flag for flag in known[("evaluate",)].flags if "--dimensions" in flag.names)
    assert set(NAMES) <= set(dimensions.values.words) and dimensions.takes == 2
    for shell in ("bash", "zsh", "fish"):
        script = (scripts / f"scuff.{shell}").read_text(encoding="utf-8")
        assert all(name in script for name in (*COMMANDS, *NAMES)), shell


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["completion", "tcsh"])
    assert "choose from" in capsys.readouterr().err
