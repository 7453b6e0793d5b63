"""A hook of MkDocs (`make docs`): the order of the pages from docs/index.md, links that work here and on GitHub, generated pages.

Three pages of the reference are made from the code when the site is built: functions and types (by mkdocstrings, from the
docstrings), every part that ships with Scuff, and the help of every command.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PARTS = ("Tutorial", "How-to", "Reference", "Evidence")  # the headings of docs/index.md
LINK = re.compile(r"(?<!\!)\[([^\]]+)\]\(([^)\s#]+)(#[^)\s]*)?\)")
GENERATED = {
    "reference/api.md": "Functions and types",
    "reference/parts.md": "All parts",
    "reference/commands.md": "Commands",
}
FAMILIES = {
    "Perturbations": "perturbations.names", "Shields": "shields.names", "Recipes of attacks": "attacks.recipes",
    "Goals": "attacks.goals", "Searches": "attacks.search", "Constraints": "attacks.constraints", "Metrics": "metrics",
}  # fmt: skip
WIDTH = "100"  # letters of a line of help


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.nav = nav((DOCS / "index.md").read_text(encoding="utf-8"))
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for path, content in {
        "reference/api.md": api_page(), "reference/parts.md": parts_page(), "reference/commands.md": commands_page(),
    }.items():  # fmt: skip
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return outward(markdown, page.file.src_uri, str(config.extra["repository"]))


def slug(heading: str, separator: str = "-") -> str:
    """Returns the name that GitHub gives to a heading, so that a link to it works in both places."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", separator)


def nav(index: str) -> list[Any]:
    """Returns the pages of the four parts, in the order in which docs/index.md links to them; the generated ones below the
    reference. A page that is not there yet is left out.
    """
    out: list[Any] = [{"Scuff": "index.md"}]
    for part in PARTS:
        section = re.split(r"^## ", index.partition(f"\n## {part}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]
        pages: dict[str, str] = {}
        for title, target, _ in LINK.findall(section):
            if target.endswith(".md") and not target.startswith("..") and (DOCS / target).is_file():
                pages.setdefault(target, title[:1].upper() + title[1:])
        if part == "Reference":
            pages |= GENERATED
        out.append({part: [{title: target} for target, title in pages.items()]})
    return out


def outward(markdown: str, source: str, repository: str) -> str:
    """Returns a page in which links to files outside docs/, which GitHub finds, lead to GitHub."""

    def moved(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if ":" in target:
            return found[0]
        path = PurePosixPath(os.path.normpath(PurePosixPath("docs", source).parent / target))
        if path.is_relative_to("docs") and path.suffix != ".json" and path.suffix != ".tsv":
            return found[0]
        kind = "tree" if (ROOT / path).is_dir() else "blob"
        return f"[{text}]({repository}/{kind}/main/{path}{anchor})"

    pieces = re.split(r"(^```.*?^```$|`[^`\n]+`)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(piece if at % 2 else LINK.sub(moved, piece) for at, piece in enumerate(pieces))


def api_page() -> str:
    """Returns a page of directives for mkdocstrings: the public functions, their keywords, and the public types."""
    import scuff

    kinds: dict[str, list[str]] = {"functions": [], "types": []}
    for name in scuff.__all__:
        value = getattr(scuff, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            kinds["types" if inspect.isclass(value) else "functions"].append(f"{value.__module__}.{value.__name__}")
    keywords = [f"scuff.keywords.{name}" for name in vars(import_module("scuff.keywords")) if name.endswith("Keywords")]
    lines = [
        "# Functions and types",
        "",
        "What `import scuff` gives, from the docstrings. Settings are keywords; what each is ",
    ]
    lines[-1] += "stands below. [A table of all functions](python.md) is a page of its own."
    for title, names in (("Functions", kinds["functions"]), ("Keywords", keywords), ("Types", kinds["types"])):
        lines += ["", f"## {title}", *(f"\n::: {name}" for name in names)]
    return "\n".join(lines) + "\n"


def parts_page() -> str:
    """Returns a page with every part that ships with Scuff: how it is written, and its docstring."""
    from scuff.specs import usage
    from scuff.training.methods import METHODS

    lines = [
        "# All parts",
        "",
        "Everything that can be named in a spec, from the code; `scuff describe NAME` says more.",
    ]
    for title, module in FAMILIES.items():
        lines += ["", f"## {title}"]
        for name, kind in import_module(f"scuff.{module}").FAMILY.shipped.items():
            facts = getattr(kind, "facts", None)
            lines += _part(name, usage(kind) if isinstance(kind, type) else name, kind, facts)
    lines += ["", "## Methods of `scuff harden`"]
    for name, kind in METHODS.items():
        lines += _part(name, usage(kind), kind, None)
    return "\n".join(lines) + "\n"


def _part(name: str, called: str, kind: Any, facts: Any) -> Iterator[str]:
    yield from ("", f"### {name}", "", f"`{called}`", "")
    if facts is not None:
        yield from (f"Adversarial attacks are harmless. → {_plain(facts.example)}", "")
        yield from (f"{_plain(facts.paper)}; {', '.join(facts.tags)}; a strength is a share of {facts.unit}.", "")
    summary = getattr(kind, "summary", "")
    text = inspect.getdoc(kind) or ""
    if summary and not text.startswith(summary[:20]):
        yield from (f"*{_plain(summary)}*", "")
    yield _plain(text)


def _plain(text: str) -> str:
    """Returns a docstring as Markdown that shows what stands there: its `code` stays code."""
    pieces = re.split(r"(`[^`\n]+`)", text)
    return "".join(piece if at % 2 else re.sub(r"([\\*<\[\]])", r"\\\1", piece) for at, piece in enumerate(pieces))


def commands_page() -> str:
    """Returns a page with the help of every command."""
    from scuff.cli.main import parser

    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        top = parser()
        lines = [
            "# Commands",
            "",
            "What `scuff --help` and `scuff COMMAND --help` say.",
            "",
            *_fenced(top.format_help()),
        ]
        for name, command in _below(top):
            lines += ["", f"## scuff {name}", "", *_fenced(command.format_help())]
    finally:
        os.environ.pop("COLUMNS") if before is None else os.environ.update(COLUMNS=before)
    return "\n".join(lines) + "\n"


def _below(parser: Any) -> Iterator[tuple[str, Any]]:
    """Yields all commands, and those below them, as `judge export`."""
    for action in parser._subparsers._group_actions if parser._subparsers else ():
        for name, command in action.choices.items():
            yield name, command
            yield from ((f"{name} {below}", each) for below, each in _below(command))


def _fenced(text: str) -> Iterable[str]:
    return ("```text", text.rstrip("\n"), "```")
