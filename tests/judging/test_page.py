"""The page: whole in one file, harmless whatever the texts are, filled in with key presses where a browser is installed."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

import scuff
from scuff.judging.items import Item, Key, named, read_key
from scuff.judging.page import direction, page_of
from scuff.judging.ratings import read_ratings
from scuff.judging.studies import STUDIES

EVIL = "</script><script>alert(1)</script> $title ${data} &amp; <!-- \u2028 \u202e שלום"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

DRIVER = """<script>(function () {
  function note(kind, text) {
    var it = document.createElement("pre"); it.className = kind; it.textContent = JSON.stringify(text);
    document.body.appendChild(it);
  }
  URL.createObjectURL = function (blob) { blob.text().then(function (text) { note("saved", text); }); return "#"; };
  function press(key, more) {
    var how = Object.assign({ key: key, bubbles: true, cancelable: true }, more || {});
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", how));
  }
  function name(who) { var input = document.getElementById("rater"); input.value = who; input.dispatchEvent(new Event("input")); }
  %s
  note("kept", Object.keys(localStorage).map(function (key) { return localStorage.getItem(key); }));
})();</script></body>"""


def drive(page: Path, script: str, folder: Path) -> tuple[list[str], dict[str, object], str]:
    """Opens a page with a script in it. Returns what it saves, what the browser keeps, and the line that shows the progress."""
    if BROWSER is None:
        pytest.skip("needs a browser (chromium)")
    (folder / "page.html").write_text(
        page.read_text(encoding="utf-8").replace("</body>", DRIVER % script), encoding="utf-8"
    )
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --virtual-time-budget=3000"
    done = subprocess.run(
        [BROWSER, *flags.split(), f"--user-data-dir={folder}/profile", "--dump-dom", f"file://{folder}/page.html"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = {
        kind: [
            json.loads(html.unescape(text))
            for text in re.findall(rf'<pre class="{kind}">(.*?)</pre>', done.stdout, re.S)
        ]
        for kind in ("saved", "kept")
    }
    progress = re.search(r'id="progress"[^>]*>([^<]*)', done.stdout)
    assert progress and found["kept"], done.stdout[-2000:]
    return found["saved"], json.loads(found["kept"][0][0]), progress[1]


def test_a_page_is_whole_and_texts_stay_texts() -> None:
    items = named([Item(EVIL, f"{EVIL}x", label="<b>"), Item("plain", "plaim", label="=1+1")], "validity", 0)
    key = Key("validity", tuple(items), warning="<i>rude</i>")
    page = page_of(key, key.kit)
    assert not re.search(r"https?://|src=|@import|url\(", page) and "default-src 'none'" in page
    assert page.count("<script") == 2 and page.count("</script>") == 2 and "alert(1)<" not in page
    data = json.loads(page.split('id="kit">')[1].split("</script>")[0])
    assert data["steps"][0]["texts"] == [EVIL, f"{EVIL}x"] and data["warning"] == "<i>rude</i>"
    assert "$" not in re.sub(r"\$id|\$/", "", page.split("<script>")[1])  # no placeholder is left


@pytest.mark.parametrize("study", STUDIES)
def test_the_wording_is_the_papers(study: str) -> None:
    about = STUDIES[study]
    page = page_of(Key(about.name, ()), "x")
    assert all(json.dumps(words)[1:-1] in page for words in (*about.scale, *about.instructions, about.question))
    if study == "meaning":
        assert about.question == "How would you rate the similarity between the meaning of these two sentences?"
        assert about.scale[0] == "The meaning is completely different or one of the sentences is meaningless"
        assert about.scale[4] == "Meaning is essentially equal but some expressions are unnatural"
        assert about.wording("Czech")[5] == "Meaning is essentially equal and the two sentences are well-formed Czech"


def test_every_control_has_a_name_and_texts_any_direction() -> None:
    page = page_of(Key("meaning", ()), "x")
    assert page.count("said.dir = ") == 2 and page.count("step.dir") == 2 and "plaintext" not in page
    assert 'lang="en"' in page and 'aria-live="polite"' in page
    assert "prefers-color-scheme: dark" in page and ":focus-visible" in page and "width=device-width" in page
    for name in re.findall(r'<(?:input|textarea) id="(\w+)"', page):
        assert f'for="{name}"' in page or re.search(rf'<label>[^<]*<input id="{name}"', page)


def test_a_version_has_the_direction_of_its_original() -> None:
    """Perturbed English that begins with a Hebrew letter stays left to right, and Hebrew is right to left."""
    english, hebrew = "over the hill", "שלום לכולם"
    pairs = named([Item(english, "סver the hill", flipped=True), Item(hebrew, "x" + hebrew)], "meaning", 0)
    assert [step["dir"] for step in _steps(Key("meaning", tuple(pairs)))] == ["ltr", "rtl"]
    versions = [replace(item, group=at) for at, item in enumerate(pairs)]
    assert [step["dir"] for step in _steps(Key("readability", tuple(versions)))] == ["ltr", "rtl"]
    assert [direction(text) for text in ("12 (a)", "«مرحبا»", "12 + 4", "")] == ["ltr", "rtl", "auto", "auto"]


def _steps(key: Key) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(page_of(key, "x").split('id="kit">')[1].split("</script>")[0])["steps"]
    return found


@pytest.mark.slow
def test_pairs_are_rated_with_the_keyboard(run: Path, tmp_path: Path) -> None:
    kit = scuff.judge_export(run, tmp_path / "kit", study="validity", each=2, warning="Rude words.")
    script = """
      document.getElementById("understood").click(); name("Zoë, =1");
      press("1"); press("0"); press("7"); press("1"); press("Backspace"); press("0"); press("ArrowRight"); press("1");
      press("ArrowLeft"); press("Enter"); press("z", { ctrlKey: true }); press("0");
      document.getElementById("comment").value = 'unclear, "why"';
      document.getElementById("comment").dispatchEvent(new Event("input"));
      document.getElementById("comment").focus(); press("1"); press("Backspace");
      press("s", { ctrlKey: true }); document.getElementById("json").click();"""
    saved, kept, progress = drive(tmp_path / "kit" / "raters" / "rate.html", script, tmp_path)
    ids = [item.id for item in kit.key.items]
    wanted = {ids[0]: 1, ids[1]: 0, ids[2]: 0, ids[4]: 0}
    assert kept["ratings"] == wanted and kept["rater"] == "Zoë, =1" and kept["at"] == 5
    assert progress.startswith(f"4 of {len(ids)} done; this is number 6")
    assert len(saved) == 2 and "\ufeff" not in saved[1]
    for name, text in zip(("a.csv", "b.json"), saved, strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
        found = read_ratings([tmp_path / name], read_key(tmp_path / "kit" / "key.json"))
        assert found.raters == ("Zoë, =1",)
        assert {ids[at]: int(value) for at, value in enumerate(found.values[0]) if value == value} == wanted
    assert '"unclear, ""why"""' in saved[0]


@pytest.mark.slow
def test_a_browser_shows_a_version_in_the_direction_of_its_original(tmp_path: Path) -> None:
    items = named([Item("over the hill", "סver the hill")], "meaning", 0)
    (tmp_path / "rate.html").write_text(page_of(Key("meaning", tuple(items)), "x"), encoding="utf-8")
    script = """
      name([].map.call(document.querySelectorAll("#texts p"), function (it) {
        var style = getComputedStyle(it); return style.direction + " " + style.unicodeBidi; }).join());"""
    assert drive(tmp_path / "rate.html", script, tmp_path)[1]["rater"] == "ltr isolate,ltr isolate"


@pytest.mark.slow
def test_versions_are_ranked_with_the_keyboard(run: Path, tmp_path: Path) -> None:
    kit = scuff.judge_export(run, tmp_path / "kit", study="readability", each=2)
    script = """
      name("Ann"); press("b"); press("b"); press("x"); press("a"); press("Backspace"); press("d"); press("C");
      press("Enter"); document.getElementById("json").click();"""
    saved, kept, progress = drive(tmp_path / "kit" / "raters" / "rate.html", script, tmp_path)
    first = [item.id for item in kit.key.items if item.group == 0]
    assert json.loads(saved[0])["ratings"] == {
        first[1]: 1,
        first[3]: 2,
        first[2]: 3,
        first[0]: 4,
    }  # the last falls into place
    assert progress.startswith("1 of 2 done") and kept["at"] == 1
