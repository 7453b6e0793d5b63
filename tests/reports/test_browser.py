"""Reports in a real browser: from disk with the network off, hostile texts, filters, and what axe-core says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import scuff
from browser import NARROW, WIDE, from_disk, opened, violations
from scuff.reports.evaluation import write_report
from scuff.runs.folder import Folder

EVIL = "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
TURNED = "\u202eevil\u2066"
TOY = "toy:sentiment"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "run"
    scuff.evaluate(
        TOY, TOY, folder, examples=25, cases=2, degrees=[0.1, 0.5], access=["rule", "score"],
        dimensions=["keyboard@edits", "homoglyph", "invisible"],
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose texts, labels, ids, model and file want to be markup, and turn text around."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {"text": f"{EVIL} {TURNED} number {n} is good and long enough", "label": f"<b>{TURNED}", "id": f"{EVIL}{n}"}
        for n in range(6)
    ]
    rows += [
        {**row, "text": row["text"].replace("good", "poor"), "label": "</li>&amp;", "id": f"{row['id']}x"}
        for row in rows
    ]
    path = folder / f"<img src=x onerror=alert(1)>{TURNED}.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def model(texts: list[str]) -> list[str]:
        return [f"<b>{TURNED}" if "good" in text else "</li>&amp;" for text in texts]

    scuff.evaluate(model, str(path), folder / "run", id="id", dimensions=["keyboard"], degrees=[0.6], cases=3)
    return folder / "run"


@pytest.fixture
def page(browser: Any, evaluated: Path) -> Iterator[Any]:
    with opened(browser, from_disk(evaluated / "report.html")) as (found, said):
        yield found
        assert said.errors == [] and said.requests == [from_disk(evaluated / "report.html")]


def shown(page: Any) -> Any:
    return page.locator("#samples > li:visible")


def test_the_verdict_is_seen_first(page: Any) -> None:
    assert page.locator("main > section").first.get_attribute("id") == "verdict"
    assert page.locator(".verdict .lead").count() == 3 and page.locator(".verdict .example del").count() > 0


def test_filters(page: Any) -> None:
    whole = page.locator("#samples > li").count()
    assert whole > 20 and shown(page).count() == 20, "the first ones"
    page.get_by_role("button", name="Show more").click()
    assert shown(page).count() == min(40, whole)
    for name, value in (
        ("dimension", "homoglyph@score"),
        ("degree", "0.5"),
        ("label", "negative"),
        ("outcome", "held"),
    ):
        page.get_by_role("button", name="Show all").click()
        wanted = page.locator(f'#samples > li[data-{name}="{value}"]').count()
        page.get_by_label(name, exact=True).select_option(value)
        assert shown(page).count() == min(20, wanted) > 0, name
        assert f"{wanted} of {whole} examples" in page.locator("#filter-found").inner_text()
    page.get_by_label("dimension", exact=True).select_option("keyboard@edits")
    together = page.locator('#samples > li[data-outcome="held"][data-dimension="keyboard@edits"]').count()
    assert shown(page).count() == min(20, together)


def test_search_finds_what_was_there_before_and_after(page: Any) -> None:
    example = page.locator("#samples > li", has=page.locator("del")).first
    parts = example.locator("p.text").evaluate(
        """(p) => ["INS", "DEL"].map((tag) => { const copy = p.cloneNode(true);
           copy.querySelectorAll(tag).forEach((one) => one.remove()); return copy.textContent; })"""
    )
    for text in parts:
        page.locator("#filter-text").fill(text.upper())
        assert 0 < shown(page).count() <= 6, text
    page.locator("#filter-text").fill("no such words at all")
    assert shown(page).count() == 0 and page.locator("#filter-found").inner_text().startswith("0 of ")


def test_a_link_of_a_dimension_filters(page: Any) -> None:
    page.locator('a[data-show="homoglyph@score"]').click()
    assert {one.get_attribute("data-dimension") for one in shown(page).all()} == {"homoglyph@score"}
    assert page.url.endswith("#examples")


def test_deceptive_characters_are_named(page: Any) -> None:
    page.get_by_label("dimension", exact=True).select_option("homoglyph")
    named = shown(page).locator(".characters li").all_inner_texts()
    assert named and all("U+" in name or name.startswith("and ") for name in named)
    page.get_by_label("dimension", exact=True).select_option("invisible")
    assert any("ZERO WIDTH" in name for name in shown(page).locator(".characters li").all_inner_texts())


def test_the_command_can_be_copied(browser: Any, evaluated: Path) -> None:
    address = from_disk(evaluated / "report.html")
    with opened(browser, address, permissions=["clipboard-read", "clipboard-write"]) as (page, said):
        page.locator("#repeat button").click()
        page.wait_for_function("document.querySelector('#repeat button').textContent !== 'Copy'")
        assert page.locator("#repeat button").inner_text() == "Copied"
        assert page.evaluate("navigator.clipboard.readText()") == page.locator("#repeat code").inner_text()
        assert said.errors == []


def test_without_script_everything_is_there(browser: Any, evaluated: Path) -> None:
    with opened(browser, from_disk(evaluated / "report.html"), java_script_enabled=False) as (page, said):
        assert page.locator(".filters").is_hidden() and page.locator("button.copy:visible").count() == 0
        assert page.locator("#samples > li").count() == 10 and page.locator("#samples-more li.example").count() > 10
        assert said.errors == []


def test_hostile_texts_are_text(browser: Any, hostile: Path) -> None:
    address = from_disk(hostile / "report.html")
    with opened(browser, address) as (page, said):
        assert page.title().startswith("Scuff: ") and said.errors == [] and said.requests == [address]
        assert page.locator("img, main b i").count() == 0 and page.locator("script").count() == 1
        assert EVIL in page.locator("#samples").inner_text()
        heading = page.locator("h1").inner_text()
        assert "<img src=x onerror=alert(1)>[U+202E]evil[U+2066].jsonl" in heading
        raw = page.content()
        assert "\u202e" not in raw and "\u2066" not in raw, "nothing can turn the page around"


def test_a_script_that_got_in_does_not_run(browser: Any, evaluated: Path, tmp_path: Path) -> None:
    """If all escaping failed, the policy of the page would still stop it."""
    source = (evaluated / "report.html").read_text(encoding="utf-8")
    (tmp_path / "report.html").write_text(
        source.replace("<main", "<script>document.title='run'</script><main"), encoding="utf-8"
    )
    with opened(browser, from_disk(tmp_path / "report.html")) as (page, said):
        assert page.title() != "run" and any("Content Security Policy" in error for error in said.errors)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        (NARROW, "dark"),
        *(pytest.param(*one, marks=SLOW) for one in ((WIDE, "light"), (WIDE, "dark"), (NARROW, "light"))),
    ],
)  # fmt: skip
def test_everyone_can_read_it(
    browser: Any, evaluated: Path, attacked: Folder, size: tuple[int, int], scheme: str
) -> None:
    """No violation of axe-core's rules, also with everything unfolded; nothing makes the page wider than the screen."""
    for path in (evaluated, attacked.path):
        with opened(browser, from_disk(path / "report.html"), size, color_scheme=scheme) as (page, said):
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            assert violations(page) == [] and said.errors == []


def test_the_first_column_stays_on_a_phone(browser: Any, evaluated: Path) -> None:
    with opened(browser, from_disk(evaluated / "report.html"), NARROW) as (page, _):
        region = page.locator("#scores .scroll")
        before = region.locator("tbody th").first.bounding_box()
        region.evaluate("(one) => { one.scrollLeft = 200; }")
        after = region.locator("tbody th").first.bounding_box()
        assert region.evaluate("(one) => one.scrollLeft") > 100 and before and after and before["x"] == after["x"]


def test_keys_are_enough(page: Any) -> None:
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    outline = page.evaluate("getComputedStyle(document.querySelector('summary'), null).outlineStyle")
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.evaluate("(one) => one.open")
    focused = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "none" and focused == "solid", "where one is can be seen"


def test_a_large_run_is_a_sample(browser: Any, evaluated: Path, tmp_path: Path) -> None:
    """1,000 examples in 10 dimensions, whose results are those of a small run over and over."""
    lines = [json.loads(line) for line in (evaluated / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    summary = json.loads((evaluated / "summary.json").read_text(encoding="utf-8"))
    found = dict(list(summary["dimensions"].items())[:2])
    names = [f"made-{n}" for n in range(10)]
    summary["dimensions"] = {
        name: {**found[list(found)[at % 2]], "base": name, "setting": "rule"} for at, name in enumerate(names)
    }
    summary["harm"] = [{"dimension": name, "left": 0.5} for name in names]
    for name in ("run.json",):
        (tmp_path / name).write_bytes((evaluated / name).read_bytes())
    folder = Folder(tmp_path)
    folder.write_json("summary.json", summary)
    many = []
    for number in range(1000):
        line = lines[number % len(lines)]
        case = next(iter(line["dimensions"].values()))
        texts = [text + " and more of the same" * 20 for text in line["texts"]]
        many.append({**line, "id": str(number), "texts": texts, "dimensions": dict.fromkeys(names, case)})
    folder.write_lines("results.jsonl", many)
    write_report(folder)
    assert (tmp_path / "report.html").stat().st_size < 10_000_000
    with opened(browser, from_disk(tmp_path / "report.html")) as (page, said):
        count = page.locator("#samples > li").count()
        assert 100 < count <= 800 and "a sample with" in page.locator("#filter-found").inner_text()
        page.get_by_label("dimension", exact=True).select_option("made-7")
        assert {one.get_attribute("data-dimension") for one in shown(page).all()} == {"made-7"} and said.errors == []
