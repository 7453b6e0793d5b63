"""The runs folder: which runs are in it, and the pages of theirs that may be read. Nothing outside of it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from ..reports.compared import compare_saved
from ..reports.comparison_result import Comparison
from ..reports.formatting import percent
from ..runs.comparable import Differing
from ..runs.folder import BadRun, Folder
from ..runs.run import kind_of
from .messages import Refused, RunEntry, RunsAnswer

PAGES = ("report.html", "comparison.html")  # the only files that are served
COMPARED = 20  # runs, at most
MOST = 500  # runs that are listed
LARGEST = 64 << 20  # bytes of a page
DEPTH = 2  # folders below the runs folder: `scuff harden` writes its two runs into one folder


class RunsFolder:
    """Reads a folder of runs. A link that leads out of it is as if it were not there."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def list(self) -> RunsAnswer:
        """Returns all runs, the latest first."""
        found = sorted(self._runs(self.path, DEPTH), key=lambda run: (-self._changed(run), run.as_posix()))
        return {"runs": [self._entry(run) for run in found[:MOST]], "left_out": max(0, len(found) - MOST)}

    def page(self, run: str, name: str) -> bytes:
        """Returns a page of a run. Raises Refused with status 404 if there is none, or if it is outside of the folder."""
        found = self._inside(self.path / self.find(run) / name) if name in PAGES else None
        if found is None:
            raise Refused(404, f"expected {' or '.join(PAGES)} of a run, got no such page: {name[:60]!r}")
        if found.stat().st_size > LARGEST:
            raise Refused(413, f"expected a page of at most {LARGEST >> 20} MB, got a larger one: open it from disk")
        return found.read_bytes()

    def comparison(self, runs: Sequence[str], anyway: bool) -> str:
        """Returns the page that compares runs. Raises Refused: 404 for a name of no run, 409 for runs that differ in more than
        the model, unless `anyway`, 422 if they cannot be compared at all.
        """
        if not 2 <= len(runs) <= COMPARED:
            raise Refused(422, f"expected 2 to {COMPARED} runs to compare, got {len(runs)}")
        folders = [self.path / self.find(run) for run in runs]
        try:
            return Comparison(compare_saved(folders, names=runs, anyway=anyway)).html
        except Differing as error:
            raise Refused(409, str(error)) from None
        except (ValueError, OSError) as error:
            raise Refused(422, str(error)) from None

    def find(self, run: str) -> Path:
        """Returns the folder of a run. Raises Refused with status 404 for a name that leads elsewhere, or to nothing."""
        parts = run.split("/")
        plain = all(part not in ("", ".", "..") and "\0" not in part and "\\" not in part for part in parts)
        if not plain or len(parts) > DEPTH or self._inside(self.path.joinpath(*parts, "run.json")) is None:
            raise Refused(404, f"expected a run of the runs folder, got {run[:60]!r}")
        return Path(*parts)

    def _inside(self, path: Path) -> Path | None:
        """Returns where a file really is, if that is inside of the runs folder; None otherwise."""
        try:
            found = path.resolve(strict=True)
            inside = found.is_file() and found.is_relative_to(self.path.resolve())
        except (OSError, ValueError, RuntimeError):
            return None
        return found if inside else None

    def _runs(self, folder: Path, depth: int) -> Iterator[Path]:
        """Yields the runs in a folder, relative to the runs folder."""
        try:
            inside = sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink())
        except OSError:
            return
        for path in inside:
            if self._inside(path / "run.json"):
                yield path.relative_to(self.path)
            elif depth > 1:
                yield from self._runs(path, depth - 1)

    def _changed(self, run: Path) -> float:
        try:
            return (self.path / run / "run.json").stat().st_mtime
        except OSError:
            return 0.0

    def _entry(self, run: Path) -> RunEntry:
        folder, name = Folder(self.path / run), run.as_posix()
        report = (
            f"/runs/{quote(name, errors='surrogateescape')}/report.html"
            if self._inside(self.path / run / "report.html")
            else None
        )
        entry: RunEntry = {
            "run": name, "kind": "", "model": "", "data": "", "what": "", "report": report, "comparable": False,
        }  # fmt: skip
        try:
            about = folder.run()
            entry |= {"kind": kind_of(folder.path), "model": about["model"]["name"], "data": about["data"]["name"]}
            entry["what"], entry["comparable"] = self._result(folder, run)
        except (BadRun, OSError, KeyError) as error:
            entry["what"] = str(error)
        return entry

    def _result(self, folder: Folder, run: Path) -> tuple[str, bool]:
        """Returns one line about the result of a run, and whether it is finished."""
        if not self._inside(self.path / run / "summary.json"):
            return "not finished", False
        summary = folder.summary()
        if "kind" in summary:
            success = summary["success"]
            return f"{success['count']:,} of {success['of']:,} attacks succeeded", True
        clean, average, worst = summary["clean"]["score"], summary["overall"]["average"], summary["overall"]["worst"]
        shown = (percent(one["value"]) for one in (clean, average, worst))
        return "clean {}, average {}, worst {}".format(*shown), True
