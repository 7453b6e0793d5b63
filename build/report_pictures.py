"""Draw docs/report.png (verdict and radar) and docs/report-examples.png (search and filters) from the report of `scuff demo`.

pip install -e . playwright && scuff demo -o scuff-demo && python build/report_pictures.py scuff-demo

Needs Chromium; SCUFF_CHROMIUM names one that is not on the path.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parents[1] / "docs"
WIDTH, EXAMPLES = 960, 8  # of the pictures; examples in the second


def main() -> None:
    page = Path(sys.argv[1] if len(sys.argv) > 1 else "scuff-demo") / "report.html"
    path = os.environ.get("SCUFF_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(viewport={"width": WIDTH, "height": 1000}, device_scale_factor=1.1, offline=True)
        tab = context.new_page()
        tab.goto(page.resolve().as_uri())
        draw(tab, "report.png", "h1", "#glance .cards")
        tab.locator("#filter-dimension").select_option("glyph-m")
        tab.locator("#filter-outcome").select_option("became wrong")
        last = f"#samples > li:not([hidden]):nth-child({EXAMPLES} of :not([hidden]))"
        draw(tab, "report-examples.png", "#examples-title", last)
        browser.close()


def draw(tab: Any, name: str, first: str, last: str) -> None:
    """Draws the page from the top of one element to the bottom of another."""
    top, bottom = (tab.locator(one).first.bounding_box() for one in (first, last))
    start, stop = max(0, top["y"] - 24), bottom["y"] + bottom["height"] + 10
    clip = {"x": 0, "y": start, "width": WIDTH, "height": stop - start}
    tab.screenshot(path=DOCS / name, full_page=True, clip=clip)
    print(f"{name}: {(DOCS / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
