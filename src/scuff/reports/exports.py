"""Writes a run as files for papers, slides, model hubs and other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ..data.formats.streams import replacing
from ..runs.display import visible
from ..runs.folder import Folder
from ..stores import on_this_disk
from .command import repeating
from .model_card import run_card
from .parquet import write_parquet
from .pictures import write_png, write_svg
from .tables import PaperTable
from .verdict import verdict_of

STDOUT = "-"


def export(folder: Folder, table: PaperTable, files: Mapping[str, str | Path | None]) -> dict[str, Path]:
    """Writes what is asked for; - is standard output. Returns the paths by name. table: of the run, in its paper's layout.

    Raises ValueError if two outputs are standard output, or a folder is, or one is not on this disk.
    """
    written: dict[str, Path] = {}
    given = {name: str(on_this_disk(path, name)) for name, path in files.items() if path is not None}
    piped = [name for name, path in given.items() if path == STDOUT]
    if len(piped) > 1 or set(piped) & {"svg", "png"}:
        raise ValueError(f"expected one file for standard output (-), got {' and '.join(piped)}")
    for name, path in given.items():
        if name in TEXTS:
            text = TEXTS[name](folder, table)
            with replacing(path) as out:
                out.write(text.encode("utf-8", "backslashreplace"))
        else:
            OTHERS[name](folder, path)
        written[name] = Path(path)
    return written


def run_markdown(folder: Folder, table: PaperTable) -> str:
    """Returns a run as Markdown: the verdict, the table in its paper's layout, and the command that repeats it."""
    run, summary = folder.run(), folder.summary()
    model, data = (
        " ".join(visible(name.replace("`", "'")).split()) for name in (summary["model"], summary["data"]["name"])
    )
    command, needs = repeating(run)
    fence = "````" if "```" in command else "```"
    parts = [
        f"# `{model}` on `{data}`", verdict_of(folder).markdown().rstrip(), "## Every number", table.markdown().rstrip(),
        "## Repeat this run",
        f"{fence}\n{command}\n{fence}", f"({needs})" if needs else "",
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


TEXTS: dict[str, Callable[[Folder, PaperTable], str]] = {
    "html": lambda folder, _: folder.read_text("report.html"),
    "csv": lambda _, table: table.csv(),
    "latex": lambda _, table: table.latex(),
    "paper": lambda _, table: table.markdown(),
    "markdown": run_markdown,
    "model_card": run_card,
}
OTHERS: dict[str, Callable[[Folder, str], object]] = {
    "svg": write_svg,
    "png": write_png,
    "parquet": lambda folder, path: write_parquet(str(folder.path), path),
}
