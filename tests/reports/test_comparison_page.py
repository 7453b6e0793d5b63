"""The page of a comparison in a real browser: from disk with the network off, for every kind of comparison and reader."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import scuff
from browser import NARROW, WIDE, from_disk, opened, violations
from reports.compared import TOY
from reports.made import EVIL

BIDI = "right\u202eleft"


def two(runs: Path) -> str:
    return scuff.compare(runs / "plain", runs / "shielded").html


def more(runs: Path) -> str:
    return scuff.compare(*(runs / name for name in ("plain", "shielded", "seed", "degrees", "fewer")), anyway=True).html


def attacks(runs: Path) -> str:
    return scuff.compare(runs / "attacked", runs / "stubborn").html


def apart(runs: Path) -> str:
    return scuff.compare(runs / "plain", runs / "apart", anyway=True).html


@pytest.mark.parametrize(
    "page", [two, *(pytest.param(each, marks=pytest.mark.slow) for each in (more, attacks, apart))]
)
def test_the_page_in_a_browser(page: Callable[[Path], str], runs: Path, tmp_path: Path, browser: Any) -> None:
    path = tmp_path / "comparison.html"
    path.write_text(page(runs), encoding="utf-8")
    for size, colours in ((WIDE, "light"), (NARROW, "light"), (WIDE, "dark")):
        with opened(browser, from_disk(path), size, color_scheme=colours) as (shown, said):
            assert said.errors == [] and said.requests == [from_disk(path)]
            shown.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
            assert violations(shown) == []
            assert shown.evaluate("document.documentElement.scrollWidth") <= size[0], "only tables scroll sideways"
            first = shown.locator("main > *").first
            assert first.get_attribute("id") == "verdict"
            assert shown.locator("nav a").count() == len(shown.evaluate(TARGETS)), (
                "every entry of the contents is there"
            )
            assert shown.locator("svg text").evaluate_all("all => all.every(each => each.getBBox().width > 0)")


TARGETS = "[...document.querySelectorAll('nav a')].filter(a => document.querySelector(a.getAttribute('href'))).map(a => a.href)"


def test_curves_and_radars_have_a_line_of_every_run(runs: Path, tmp_path: Path, browser: Any) -> None:
    (tmp_path / "two.html").write_text(two(runs), encoding="utf-8")
    with opened(browser, from_disk(tmp_path / "two.html")) as (page, _):
        assert page.locator("#curves .card").count() == 3 == page.locator("#curves polyline.m1").count()
        assert page.locator("#glance .card").count() == 1 and page.locator("#glance polyline.m0.low").count() == 1
        colours = page.locator("#curves polyline").evaluate_all("all => all.map(each => getComputedStyle(each).stroke)")
        dashes = page.locator("#curves polyline").evaluate_all(
            "all => all.map(each => getComputedStyle(each).strokeDasharray)"
        )
        assert len(set(colours)) == 2 == len(set(dashes)), "colour is not the only sign"
        assert page.locator("#differences .won").count() and "won" in page.locator("#differences").inner_text()


def test_hostile_names_and_texts_are_text(tmp_path: Path, browser: Any) -> None:
    rows = [
        (f"{word} {EVIL} {BIDI} {at}", label) for at in range(6) for word, label in (("good", "pos"), ("bad", "neg"))
    ]
    settings: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.5], "cases": 2, "labels": ["neg", "pos"]}

    def model(texts: list[str]) -> list[str]:
        return ["pos" if "good" in text else "neg" for text in texts]

    for name, shield in (("<b onclick=x>", None), ("'&\"", "normalise")):
        scuff.evaluate(model, rows, tmp_path / name, shield=shield, **settings)
    found = scuff.compare(
        tmp_path / "<b onclick=x>", tmp_path / "'&\"", names=["<script>alert(1)</script>", f"$x {BIDI}"]
    )
    path = tmp_path / "page.html"
    path.write_text(found.html, encoding="utf-8")
    assert len(re.findall("<script", found.html)) == 1, "its own"
    assert "\u202e" not in str(found) and "\u200b" not in str(found)
    with opened(browser, from_disk(path)) as (page, said):
        assert said.errors == [] and page.locator("b[onclick]").count() == 0
        assert "<script>alert(1)</script>" in page.locator("h1").inner_text()


@pytest.mark.slow
def test_the_page_of_a_hardening_is_the_same_page(tmp_path: Path, browser: Any) -> None:
    words = (("good", "positive"), ("bad", "negative"), ("fine", "positive"), ("poor", "negative"))
    rows = [
        (f"the {noun} was {word}", label) for noun in ("film", "plot", "cast", "song", "end") for word, label in words
    ]
    scuff.harden(
        TOY,
        rows,
        tmp_path / "out",
        methods="shield(normalise)",
        dimensions=["visual", "keyboard"],
        degrees=[0.5],
        cases=2,
    )
    path = tmp_path / "out" / "comparison.html"
    for size in (WIDE, NARROW):
        with opened(browser, from_disk(path), size) as (page, said):
            assert said.errors == [] and violations(page) == []
            assert page.locator("#curves .card").count() == 2
            assert page.get_by_role("link", name="before").get_attribute("href") == "before/report.html"
