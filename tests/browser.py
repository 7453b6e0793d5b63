"""A real headless Chromium for tests of pages. Tests that need it are skipped where Playwright or a browser is missing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

WIDE, NARROW = (1280, 900), (390, 844)  # a screen, a phone
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run",
]  # fmt: skip
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium: SCUFF_CHROMIUM, or one on the path, or Playwright's own."""
    api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
    path = os.environ.get("SCUFF_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    with api.sync_playwright() as player:
        try:
            found = player.chromium.launch(executable_path=path, args=QUIET)
        except api.Error:
            pytest.skip("needs Chromium: install it, name it in SCUFF_CHROMIUM, or run `playwright install chromium`")
        yield found
        found.close()


class Said:
    """What a page complained about, and what it wanted to load."""

    def __init__(self) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []


@contextmanager
def opened(
    browser: Any, address: str, size: tuple[int, int] = WIDE, *, offline: bool = True, **options: Any
) -> Iterator[tuple[Any, Said]]:
    """Opens a page, by default with the network off, and closes it again. options: of Playwright's new_context."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    said = Said()
    try:
        context.set_offline(offline)
        page = context.new_page()
        page.on("console", lambda message: said.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.errors.append(str(error)))
        page.on("request", lambda request: said.requests.append(request.url))
        page.goto(address)
        yield page, said
    finally:
        context.close()


def from_disk(path: Path) -> str:
    """The address of a file, as a double click opens it."""
    return path.resolve().as_uri()


def violations(page: Any) -> list[str]:
    """What axe-core finds wrong with a page, a line per rule with the first element."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    found = axe.Axe().run(page).response["violations"]
    return [f"{rule['id']}: {rule['help']}: {rule['nodes'][0]['html'][:200]}" for rule in found]
