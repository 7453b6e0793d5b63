"""How readable texts stay: the shipped table, what describe says, and the measures of build/readability."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import scuff
from scuff.cli.main import main
from scuff.perturbations import LEVELS, NAMES, ZEROE, Readability
from scuff.resources import load

ROOT = Path(__file__).parents[2]
FIGURES = json.loads((ROOT / "benchmarks/papers/figures/readability.json").read_text(encoding="utf-8"))
TABLE = json.loads(load("readability.json"))
MEASURES = ("edits", "seen", "surprise", "surprise_read", "effort", "rank")


@pytest.fixture(scope="module")
def table() -> Iterator[ModuleType]:
    """build/readability/table.py."""
    folder = str(ROOT / "build/readability")
    sys.path.insert(0, folder)
    import table as module

    yield module
    sys.path.remove(folder)
    for name in ("table", "measure"):
        del sys.modules[name]


def drawn() -> tuple[np.ndarray, np.ndarray]:
    """Letters of a few random strokes; Cyrillic а is drawn as a, and á is a with an accent."""
    rng = np.random.default_rng(0)
    pictures = {char: np.zeros((24, 24), np.uint8) for char in "abcdefghijklmnopqrstuvwxyz"}
    for picture in pictures.values():
        for down, right in rng.integers(4, 20, (2, 2)):
            picture[down, 4:20] = picture[4:20, right] = 255
    pictures["а"] = pictures["a"]
    pictures["á"] = pictures["a"].copy()
    pictures["á"][1, 10:14] = 255
    chars = sorted(pictures)
    return np.array([ord(char) for char in chars], np.uint16), np.stack([pictures[char] for char in chars])


def test_the_table_is_complete() -> None:
    rows = TABLE["perturbations"]
    assert list(rows) == list(NAMES) and TABLE["levels"] == list(LEVELS)
    whole = [row for row in rows.values() if "missing" not in row]
    assert [name for name, row in rows.items() if "missing" in row] == ["paraphrase"]
    assert all(len(row[key]) == len(LEVELS) for row in whole for key in MEASURES)
    for level in range(len(LEVELS)):
        order = sorted(whole, key=lambda row: row["effort"][level])
        assert sum(row["rank"][level] for row in whole) == len(whole) * (len(whole) + 1) / 2
        assert [row["rank"][level] for row in order] == sorted(row["rank"][level] for row in order)
    assert {name: row["raters"] for name, row in rows.items() if "raters" in row} == FIGURES["raters"]
    invisible, keyboard = Readability.of("invisible"), Readability.of("keyboard")
    assert invisible.edits[-1] > 0.2 and invisible.seen == (0, 0, 0), "the eye sees nothing of it"
    assert keyboard.effort[0] < keyboard.effort[1] < keyboard.effort[2] and keyboard.measured == len(whole)
    assert Readability.of("homoglyph").seen[-1] < Readability.of("homoglyph").edits[-1] / 2


def test_the_raters_ranks_are_those_of_the_thesis() -> None:
    """The table is damaged in the text that we have: each column is a permutation, each line has the printed mean."""
    assert sorted(FIGURES["raters"]) == sorted(ZEROE)
    assert all(sum(given) / 5 == pytest.approx(FIGURES["means"][name]) for name, given in FIGURES["raters"].items())
    assert all(sorted(column) == list(range(1, 11)) for column in zip(*FIGURES["raters"].values(), strict=True))


def test_describe_shows_ranks_and_measures(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["describe", "keyboard"]) == 0
    out = capsys.readouterr().out
    assert "people rank it          8.0 of 10 at high (6 to 10 by 5 raters; 1 reads best)" in out
    row = Readability.of("keyboard")
    shown = ", ".join(f"{value:.0%}" for value in row.edits)
    assert f"edits                   {shown} of the characters at low, mid, high; seen " in out
    worth = TABLE["validation"]["texts"]["effort"]
    rho = f"{worth['rho']:.2f}, {worth['low']:.2f} to {worth['high']:.2f}"
    assert (
        f"at high rank {row.rank[-1]:g} of {row.measured}, 1 reads best (a proxy: rho with people's ranks {rho})" in out
    )
    assert main(["describe", "homoglyph"]) == 0 and "people rank it" not in capsys.readouterr().out
    assert main(["describe", "paraphrase"]) == 0
    assert "readability             not measured: depends on the model that you give" in capsys.readouterr().out
    (tmp_path / "own_noise.py").write_text(
        "from scuff.perturbations import Typo\nclass Typo(Typo):\n    '''Mine.'''\n", encoding="utf-8"
    )
    sys.path.insert(0, str(tmp_path))
    try:
        assert main(["describe", "own_noise:Typo"]) == 0
    finally:
        sys.path.remove(str(tmp_path))
    assert "not measured: not one of the shipped perturbations" in capsys.readouterr().out


def test_describe_and_the_page_mean_the_same_by_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/readability.md").read_text(encoding="utf-8")
    for name in ("visual", "keyboard"):
        assert main(["describe", name]) == 0
        out = capsys.readouterr().out
        found = re.search(
            rf"^\| `{name}` \|[^|]*\| (\d+) % \| (\d+) % \| (\S+) \| (\S+) \| (\S+) \| (\d+) ", page, re.MULTILINE
        )
        assert found is not None
        edits, seen, surprise, read, effort, rank = found.groups()
        assert re.search(
            rf"^edits .*, {edits}% of the characters at low, mid, high; seen .*, {seen}%$", out, re.MULTILINE
        )
        assert re.search(
            rf"^surprise .*, {re.escape(surprise)} bits per character; as read .*, {re.escape(read)}$",
            out,
            re.MULTILINE,
        )
        assert re.search(rf"^effort .*, {effort}; at high rank {rank} of", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "form"),
    [("phonetic-g", "phonetic(slight=True)"), ("typo-m", "typo@edits"), ("keyboard(phi=0.0)", "keyboard(phi=0.0)")],
)
def test_figures_of_another_form_say_so(name: str, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    plain = re.split(r"[@(]", form)[0]
    line = f"the figures below are those of {plain} with its default options, not of"
    assert main(["describe", name]) == 0 and f"{line} {form}\n" in capsys.readouterr().out
    assert main(["describe", plain]) == 0 and line not in capsys.readouterr().out


def test_no_adjectives_are_left() -> None:
    for path in [*(ROOT / "src/scuff/perturbations").glob("*.py"), ROOT / "docs/reference/perturbations.md"]:
        assert not re.search(r"readable=|\| easily \||\| with effort \|", path.read_text(encoding="utf-8")), path


def test_the_pages_show_the_table(table: ModuleType) -> None:
    page = (ROOT / "docs/readability.md").read_text(encoding="utf-8")
    assert all(made in page for made in table.tables(TABLE).values())
    reference = (ROOT / "docs/reference/perturbations.md").read_text(encoding="utf-8")
    for name, row in TABLE["perturbations"].items():
        assert re.search(rf"^\| `{name}` \| .* \| {re.escape(table.shown_rank(row))} \| ", reference, re.MULTILINE), (
            name
        )


def test_the_eye_passes_over_what_it_cannot_see(table: ModuleType) -> None:
    from measure import Pictures, looked_at

    alike = Pictures(*drawn())
    assert alike("a", "а") == pytest.approx(1) and 0.7 < alike("a", "á") < 1 and alike("a", "\u4e00") == 0
    assert looked_at("abba", "аbbа", alike) == (pytest.approx(0, abs=1e-5), "abba")
    assert looked_at("abba", "ab\u200bba", alike) == (0, "abba")
    cost, read = looked_at("abba", "xbba", alike)
    assert 0.15 < cost <= 0.25 and read == "xbba"
    assert looked_at("abba", "bba", alike) == (0.25, "bba") and looked_at("", "", alike) == (0, "")


def test_the_character_model_expects_what_it_read(table: ModuleType) -> None:
    from measure import ASSIGNED, CharacterModel

    model = CharacterModel(["the cat sat on the mat", "the dog sat on the log"] * 5)
    assert model.bits("the cat sat") < model.bits("eht tca tas") < np.log2(ASSIGNED)
    assert model.bits("тхе") <= np.log2(ASSIGNED) + 1e-9
    plain = CharacterModel(["aab"], order=1)  # by hand: 4 characters with the line's end, 3 kinds
    chance = {"a": (2 + 3 / ASSIGNED) / 7, "b": (1 + 3 / ASSIGNED) / 7, "\n": (1 + 3 / ASSIGNED) / 7}
    assert plain.bits("ab") == pytest.approx(-np.mean(np.log2([chance["a"], chance["b"], chance["\n"]])))


def test_ranks_and_their_correlation(table: ModuleType) -> None:
    assert table.ranks(np.array([3.0, 1.0, 3.0])).tolist() == [2.5, 1, 2.5]
    up = np.arange(10.0)
    people = np.array([up, up, up[::-1]])
    found = table.agreement(up**3, people)
    assert found["n"] == 10 and found["rho"] == 1 and found["low"] <= 1 and found["chance"] < 0.01
    assert float(table.spearman(up, np.zeros(10))) == 0
    rng = np.random.default_rng(0)
    scipy = pytest.importorskip("scipy.stats")
    a, b = rng.integers(0, 5, (2, 10)).astype(float)
    assert float(table.spearman(a, b)) == pytest.approx(scipy.spearmanr(a, b).statistic)


@pytest.mark.shared
def test_the_shipped_numbers_come_from_the_texts(shared: Path, table: ModuleType) -> None:
    """The share of edits needs neither pictures nor a model: computed again for a perturbation."""
    from rapidfuzz.distance import Levenshtein

    data = shared / "data"
    texts = [text for source in table.SOURCES for text in table.read_texts(data / source / "dev.jsonl.gz", 100)]
    for at, level in enumerate(LEVELS):
        new = scuff.perturb(texts, "truncate", level=level, seed=0)
        share = np.mean([Levenshtein.normalized_distance(a, b) for a, b in zip(texts, new, strict=True)])
        assert share == pytest.approx(TABLE["perturbations"]["truncate"]["edits"][at], abs=1e-4)
