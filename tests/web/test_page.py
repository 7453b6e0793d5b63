"""The page in a real Chromium: type, slide, attack, cancel, shield, open a run; axe-core and the console have no complaints."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import NARROW, WIDE, opened, violations
from scuff.web.playground import Playground
from web.served import TEXT, Words, serving

api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install playwright")
expect = api.expect
expect.set_options(timeout=20_000)  # machines that run tests are busy

HOSTILE = "<script>document.title = 'evil'</script> <img src=x onerror=alert(1)> \u202egood\u202c 👍🏽 سلام &amp;"


@pytest.fixture(scope="module")
def address(browser: Any, playground: Playground, runs: Path) -> Iterator[str]:
    with serving(playground, runs) as address:
        yield address


def at_work(browser: Any, address: str, size: tuple[int, int] = WIDE, **options: Any) -> Any:
    return opened(browser, address, size, offline=False, **options)


def ready(page: Any) -> None:
    expect(page.locator("#tally")).to_contain_text("perturbations change the answer")


def row(page: Any, name: str) -> Any:
    return page.locator("#rows > li").filter(has=page.locator("h2", has_text=name))


def test_the_whole_path(browser: Any, address: str, runs: Path) -> None:
    """Type, slide, choose a seed, put on a shield, attack, open a report."""
    with at_work(browser, address) as (page, said):
        ready(page)
        expect(page.locator("#model")).to_contain_text("toy:sentiment · negative, positive")
        assert page.locator("#rows > li").count() >= 17
        page.fill("#text", "")
        expect(page.locator("#tally")).to_have_text("Nothing to perturb: type a text.")
        page.locator("#text").press_sequentially("The soup was excellent", delay=20)
        keyboard = row(page, "keyboard")
        expect(keyboard.locator("ins").first).to_be_visible()
        expect(page.locator("#clean .first").first).to_have_text("positive")

        page.locator("#strength").focus()  # by the keyboard alone
        page.keyboard.press("Home")
        expect(page.locator("#share")).to_have_text("0 %")
        expect(keyboard.locator(".sign")).to_have_text("nothing to change")
        page.keyboard.press("End")
        expect(page.locator("#share")).to_have_text("100 %")
        expect(keyboard.locator("ins").nth(2)).to_be_visible()
        before = keyboard.locator(".shown").inner_text()
        page.click("#again")
        expect(page.locator("#seed")).to_have_value("1")
        expect(keyboard.locator(".shown")).not_to_have_text(before)

        page.check("#shielded")
        expect(row(page, "homoglyph").locator(".mended")).to_contain_text("The shield mends")
        expect(page.locator("#clean-mended")).to_have_text("The shield changes nothing.")
        page.uncheck("#shielded")
        expect(page.locator("#clean-mended")).to_be_hidden()

        page.fill("#text", TEXT)
        page.fill("#seed", "0")
        page.click("#tab-attack")
        page.click("#start")
        expect(page.locator("#tries li").first).to_be_visible()
        expect(page.locator("#hunt")).to_contain_text("Found after")
        expect(page.locator("#found ins").first).to_be_visible()
        expect(page.locator("#cancel")).to_be_disabled()

        page.click("#tab-runs")
        expect(page.locator("#runs-told")).to_have_text("4 runs.")
        with page.context.expect_page() as coming:
            page.get_by_role("link", name="kept/attacked").click()
        report = coming.value
        report.wait_for_load_state()
        assert report.title() and "toy:sentiment" in report.locator("body").inner_text()
        assert report.evaluate("() => self.origin") == "null"  # it cannot ask this server
        assert not said.errors, said.errors


@pytest.mark.slow
def test_hostile_texts_show_as_text(browser: Any, address: str) -> None:
    with at_work(browser, address) as (page, said):
        ready(page)
        page.fill("#text", HOSTILE)
        expect(row(page, "omit").locator(".shown")).to_contain_text("<script>")
        expect(row(page, "omit").locator(".unseen").first).to_have_text("202E")
        page.fill("#text", "good " * 20_000)
        expect(page.locator("#trouble")).to_have_text("expected at most 20,000 characters for text, got 100,000")
        page.evaluate("() => { const text = document.getElementById('text'); text.value = 'half \\ud800'; "
                      "text.dispatchEvent(new Event('input')); }")  # fmt: skip
        expect(page.locator("#trouble")).to_contain_text("lone surrogate U+D800")
        page.fill("#text", "all is good again")
        expect(page.locator("#trouble")).to_be_hidden()
        page.fill("#text", HOSTILE)
        page.click("#tab-attack")
        page.click("#start")
        expect(page.locator("#hunt")).to_contain_text("questions")
        expect(page.locator("#heat")).to_contain_text("<script>")
        assert page.title() == "Scuff playground" and page.locator("#content img, #content script").count() == 0
        refusals = [
            text for text in said.errors if "413" not in text and "422" not in text
        ]  # the browser logs refusals
        assert not refusals


@pytest.mark.slow
def test_cancel_stops_the_search(browser: Any) -> None:
    """A model that takes its time: one sees words being tried, and the search ends when it is told to."""
    words = Words()
    with serving(Playground(words), "none") as address, at_work(browser, address) as (page, _):
        ready(page)
        page.fill("#text", "a good and great and fine and nice day " * 3)
        page.click("#tab-attack")
        words.hold = lambda: time.sleep(0.1)
        page.click("#start")
        expect(page.locator("#tries li").first).to_be_visible()
        expect(page.locator("#heat .now").first).to_be_visible()
        page.click("#cancel")
        expect(page.locator("#hunt")).to_contain_text("Cancelled after")
        expect(page.locator("#start")).to_be_enabled()
        time.sleep(0.5)
        asked = len(words.asked)
        time.sleep(0.5)
        assert len(words.asked) == asked


@pytest.mark.slow
def test_a_model_that_costs_is_asked_only_on_demand(browser: Any) -> None:
    words = Words()
    words.paid = True
    with serving(Playground(words), "none") as address, at_work(browser, address) as (page, said):
        page.fill("#text", "a good day")
        expect(page.locator("#tally")).to_contain_text("perturbations change the text.")
        assert words.asked == []
        page.click("#ask")
        ready(page)
        expect(page.locator("#clean .first").first).to_have_text("good")
        assert words.asked and violations(page) == [] and not said.errors
        asked = list(words.asked)
        page.fill("#text", "a good day today")
        expect(page.locator("#tally")).to_contain_text("perturbations change the text.")
        assert words.asked == asked


@pytest.mark.slow
def test_only_the_last_text_is_shown(browser: Any) -> None:
    """Answers to what is no longer there are dropped, and requests for it are not made."""
    words = Words()
    words.rows_at_once = 1000
    with serving(Playground(words), "none") as address, at_work(browser, address) as (page, _):
        ready(page)
        words.hold = lambda: time.sleep(0.2)
        words.asked.clear()
        page.fill("#text", "")
        page.locator("#text").press_sequentially("a good day in the sun", delay=5)
        expect(page.locator("#clean .first").first).to_have_text("good")
        page.wait_for_timeout(600)
        assert len(words.asked) <= 8, words.asked  # of twenty-one letters


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_everybody_can_use_it(browser: Any, address: str, size: tuple[int, int], scheme: str) -> None:
    with at_work(browser, address, size, color_scheme=scheme, reduced_motion="reduce") as (page, said):
        ready(page)
        page.check("#shielded")
        expect(row(page, "homoglyph").locator(".mended")).to_contain_text("The shield mends")
        assert violations(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        page.locator("#tab-perturb").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#attack")).to_be_visible()
        page.click("#start")
        expect(page.locator("#hunt")).to_contain_text("after")
        assert violations(page) == []
        page.click("#tab-runs")
        expect(page.locator("#runs-table tbody tr").first).to_be_visible()
        assert violations(page) == []
        assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
        page.goto(f"{address}docs")
        assert violations(page) == []
        assert not said.errors, said.errors
