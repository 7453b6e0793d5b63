"""Size and speed of the report of a large run: seconds to write it, bytes, first paint, and how long filters take in Chromium.

  python benchmarks/reports.py                    1,000 examples in 10 dimensions, 10,000 cases
  python benchmarks/reports.py --run RUN          of a run that is there

Needs Playwright and Chromium (SCUFF_CHROMIUM names one that is not on the path). The page is opened from disk, with the network
off; every number is the median of several openings.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import scuff
from scuff.evaluation.plan import light_columns
from scuff.reports import write_report
from scuff.runs.folder import Folder

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
# a filter, with the layout that it causes
SELECT = """(name) => {
  const select = document.getElementById(`filter-${name}`), started = performance.now();
  select.selectedIndex = select.options.length - 1;
  select.dispatchEvent(new Event("change"));
  document.body.offsetHeight;
  const taken = performance.now() - started;
  select.selectedIndex = 0;
  select.dispatchEvent(new Event("change"));
  return taken;
}"""
SEARCH = """() => {
  const field = document.getElementById("filter-text"), started = performance.now();
  field.value = "not";
  field.dispatchEvent(new Event("input"));
  document.body.offsetHeight;
  return performance.now() - started;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", help="folder of an evaluation; default: one is made")
    parser.add_argument("--times", type=int, default=5, help="openings; default 5")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        run = Path(args.run or Path(temporary) / "run")
        folder = Folder(run)
        if not args.run:
            scuff.evaluate(
                "toy:sentiment", "toy:sentiment", run, examples=1000, cases=1, degrees=[0.3], encoder="chrf",
                dimensions=light_columns(),
            )  # fmt: skip
        cases = folder.evaluation_summary()["queries"]["cases"]
        started = time.perf_counter()
        write_report(folder)
        taken = time.perf_counter() - started
        page = run / "report.html"
        print(f"{cases:,} cases: written in {taken:.2f} s, {page.stat().st_size / 1e6:.2f} MB")
        for what, milliseconds in opened(page, args.times).items():
            print(f"{what:28}{milliseconds:8.1f} ms")


def opened(page: Path, times: int) -> dict[str, float]:
    """Returns medians over openings of the page."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("SCUFF_CHROMIUM") or shutil.which("chromium")
    found: dict[str, list[float]] = {}
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=path, args=ARGUMENTS)
        for _ in range(times):
            context = browser.new_context(offline=True)
            tab: Any = context.new_page()
            tab.goto(page.resolve().as_uri())
            tab.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
            found.setdefault("first paint", []).append(tab.evaluate(PAINT))
            for name in ("dimension", "label", "outcome"):
                found.setdefault(f"filter by {name}", []).append(tab.evaluate(SELECT, name))
            found.setdefault("search", []).append(tab.evaluate(SEARCH))
            context.close()
        browser.close()
    return {what: median(values) for what, values in found.items()}


if __name__ == "__main__":
    main()
