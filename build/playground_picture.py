"""Draw docs/playground.png: the page of `scuff serve` with a text.

pip install -e '.[web]' playwright && python build/playground_picture.py

Needs Chromium; SCUFF_CHROMIUM names one that is not on the path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).parents[1] / "docs"
TEXT = "The staff were friendly, the soup was excellent and we will gladly come back."
PORT = 8461


def main() -> None:
    path = os.environ.get("SCUFF_CHROMIUM") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "scuff", "serve", "--port", str(PORT)]
        server = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            next(line for line in server.stderr if "http://" in line)  # it is ready
            with sync_playwright() as player:
                browser = player.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
                tab = browser.new_page(viewport={"width": 1180, "height": 900})
                tab.goto(f"http://127.0.0.1:{PORT}/")
                tab.locator("textarea").fill(TEXT)
                tab.get_by_text("perturbations change the answer").wait_for()
                tab.screenshot(path=DOCS / "playground.png")
                browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
