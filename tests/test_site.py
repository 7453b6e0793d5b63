"""The site of the documents: all pages are in it, in the order of docs/index.md, and links work there as on GitHub."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GITHUB = "https://github.com/scuff-nlp/scuff"


@pytest.fixture(scope="module")
def hook() -> Any:
    pytest.importorskip("mkdocs")
    spec = spec_from_file_location("docs_site", ROOT / "build" / "docs_site.py")
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_one_of_the_four_parts(hook: Any) -> None:
    found = hook.nav((DOCS / "index.md").read_text(encoding="utf-8"))
    assert [next(iter(part)) for part in found] == ["Scuff", "Tutorial", "How-to", "Reference", "Evidence"]
    pages = [target for part in found[1:] for entry in next(iter(part.values())) for target in entry.values()]
    assert len(pages) == len(set(pages))
    there = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")} - {"index.md"}
    assert set(pages) == there | set(hook.GENERATED)


def test_a_page_that_is_not_there_yet_is_left_out(hook: Any) -> None:
    index = "# Docs\n\n## Tutorial\n\n- [first](tutorial.md)\n- [later](no-such-page.md) [again](tutorial.md#x)\n"
    assert hook.nav(index)[1] == {"Tutorial": [{"First": "tutorial.md"}]}


def test_links_out_of_the_documents_lead_to_github(hook: Any) -> None:
    page = "[a](../../examples) [b](../../CONTRIBUTING.md#x) [c](attack.md#y) `[d](../../no)` ![f](../g.png)"
    assert hook.outward(page, "how-to/gate.md", GITHUB) == (
        f"[a]({GITHUB}/tree/main/examples) [b]({GITHUB}/blob/main/CONTRIBUTING.md#x) [c](attack.md#y) `[d](../../no)` "
        "![f](../g.png)"
    )
    assert (
        hook.outward("[n](teapot.json)", "results/teapot.md", GITHUB)
        == f"[n]({GITHUB}/blob/main/docs/results/teapot.json)"
    )


def test_headings_have_the_names_that_github_gives(hook: Any) -> None:
    from test_readme import anchors

    for heading in ("What `restore` leaves alone", "Zéroe: 10 (ten) levels", "`scuff perturb` and `scuff zeroe`"):
        assert {hook.slug(heading)} == anchors(f"## {heading}\n")


def test_generated_pages(hook: Any) -> None:
    from scuff import __all__ as names
    from scuff.cli.main import COMMANDS
    from scuff.perturbations.names import NAMES

    api, parts, commands = hook.api_page(), hook.parts_page(), hook.commands_page()
    assert "::: scuff.api.evaluate\n" in api and "::: scuff.keywords.EvaluateKeywords\n" in api
    assert api.count("\n::: ") >= len(names) - 3, "all but constants"
    assert all(f"\n### {name}\n" in parts for name in (*NAMES, "deepwordbug", "restore", "augment"))
    assert all(f"\n## scuff {name}\n" in commands for name in (*COMMANDS, "judge export"))
    assert max(map(len, commands.splitlines())) <= 140 and "COLUMNS" not in commands


class Links(HTMLParser):
    """The links, pictures and names of a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.names |= {str(given[name]) for name in ("id", "name") if given.get(name)}
        self.links += [
            str(given[name]) for name in ("href", "src") if given.get(name) and tag in ("a", "img", "script", "link")
        ]


@pytest.mark.slow
def test_the_site_is_built_offline_and_all_links_lead_somewhere(tmp_path: Path) -> None:
    for package in ("mkdocs", "material", "mkdocstrings_handlers.python"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    quiet = {"NO_MKDOCS_2_WARNING": "1", "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **quiet}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.resolve(): Links(path) for path in (tmp_path / "site").rglob("*.html") if path.name != "404.html"}
    assert len(pages) > 50
    wrong = []
    for page, found in pages.items():
        for link in found.links:
            if re.match(r"[a-z]+:", link):
                assert "fonts.g" not in link and (link.startswith(("mailto:", "data:")) or "://" in link)
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists() or (anchor and target in pages and anchor not in pages[target].names):
                wrong.append(f"{page.name}: {link}")
    assert not wrong, wrong[:20]
    shown = (tmp_path / "site" / "reference" / "api.html").read_text(encoding="utf-8")
    assert "Measure how a model copes with perturbed texts" in shown and 'id="scuff.api.attack"' in shown
