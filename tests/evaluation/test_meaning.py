"""`scuff.meaning` against a slow obvious twin with sacrebleu's numbers, and what must hold for any texts."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.data import aligned
from scuff.evaluation.meaning import Scorer
from scuff.metrics import Accuracy, Meteor, text_metric
from scuff.metrics.interval import wilson
from scuff.metrics.paired import LARGE
from scuff.reports.meaning import WITHOUT_WIDTH
from strategies import text

sacrebleu = pytest.importorskip("sacrebleu", reason="needs the extra scuff[translation]")

SRC = ["Zwei Männer sitzen im Park.", "Ein Hund läuft.", "Die Frau liest ein Buch.", "Kinder spielen.", "Ja!"]
ADV = ["Zwei Mnäner sitzen im Park.", "Ein Hund läuft.", "Die Fruu liest ien Bcuh.", "Spielen Kinder?", "Nein"]
OUT = ["Two men sit in the park.", "A dog is running.", "The woman reads a book.", "Children play.", "Yes!"]
ADV_OUT = ["Two sit in a park.", "A dog is running.", "The frog the.", "Children are playing.", ""]
REF = [
    "Two men are sitting in the park.",
    "A dog runs.",
    "The woman is reading a book.",
    "Children are playing.",
    "Yes!",
]
ALL = {"src": SRC, "adv_src": ADV, "out": OUT, "adv_out": ADV_OUT, "ref": REF}


def chrf(output: str, reference: str) -> float:
    return float(sacrebleu.sentence_chrf(output, [reference]).score) / 100


def twin(like: Any, threshold: float = 1) -> list[dict[str, float]]:
    """The paper's words, a line at a time."""
    lines = []
    for src, adv, out, adv_out, ref in zip(SRC, ADV, OUT, ADV_OUT, REF, strict=True):
        source, before, after = chrf(adv, src), like(out, ref), like(adv_out, ref)
        lost = 0 if after >= before else (before - after) / before
        total = source + lost
        lines.append({
            "source_likeness": source, "clean_score": before, "attacked_score": after, "relative_decrease": lost,
            "success": total, "succeeded": total > threshold,
        })  # fmt: skip
    return lines


def same(output: str, reference: str) -> float:
    return float(output == reference)


def bleu(output: str, reference: str) -> float:
    return float(sacrebleu.sentence_bleu(output, [reference]).score) / 100


@pytest.mark.parametrize(
    ("metric", "like", "threshold"),
    [
        ("chrf", chrf, None), ("bleu", bleu, None), ("exact-match", same, 1.8), ("zero_one", same, 1.8), (chrf, chrf, None),
        ("chrf", chrf, 1.3),
    ],
)  # fmt: skip
def test_the_slow_twin(metric: Any, like: Any, threshold: float | None) -> None:
    given = {} if threshold in (None, 1.8) else {"threshold": threshold}
    result = scuff.meaning(**ALL, target_metric=metric, **given)
    wanted = twin(like, threshold or 1)
    found = result.lines
    assert [line.pop("line") for line in found] == [1, 2, 3, 4, 5]
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine == pytest.approx(theirs, abs=1e-9) and type(mine["succeeded"]) is bool
    assert result.summary["threshold"] == (threshold or 1)
    for name in wanted[0].keys() - {"succeeded"}:
        values = [line[name] for line in wanted]
        entry = result.summary[name]  # type: ignore[literal-required]
        assert entry["mean"] == pytest.approx(mean(values)) and entry["deviation"] == pytest.approx(
            stdev(values), abs=1e-9
        )
        assert [entry["p5"], entry["p95"]] == pytest.approx(np.percentile(values, [5, 95]))
        assert entry["interval"][0] <= entry["mean"] <= entry["interval"][1]
    share = mean(line["succeeded"] for line in wanted)
    assert result.summary["succeeded"]["interval"] == pytest.approx(wilson(share, 5)) and result.succeeded == share
    assert result.summary["succeeded"]["count"] == 5 * share


def test_any_half(tmp_path: Path) -> None:
    whole = scuff.meaning(**ALL)
    source = scuff.meaning(SRC, ADV)
    assert set(source.columns) == {"source_likeness"} and source.source_likeness == whole.source_likeness
    assert (
        math.isnan(source.relative_decrease) and math.isnan(source.succeeded) and "target_metric" not in source.summary
    )
    target = scuff.meaning(out=OUT, adv_out=ADV_OUT, ref=REF)
    assert target.relative_decrease == whole.relative_decrease and "source_metric" not in target.summary
    for name, texts in ALL.items():
        (tmp_path / name).write_text("\n".join(texts) + "\n", encoding="utf-8")
    files = scuff.meaning(**{name: tmp_path / name for name in ALL})
    assert files.summary == whole.summary, "from files as from lists"


def test_without_references_the_outputs_are_compared() -> None:
    """The authors' tool asks whether s_src / s_tgt > 1: the same, but for outputs without likeness, by which it divides."""
    result = scuff.meaning(SRC, ADV, OUT, ADV_OUT)
    for src, adv, out, adv_out, line in zip(SRC, ADV, OUT, ADV_OUT, result.lines, strict=True):
        alike = chrf(adv_out, out)
        assert line["output_likeness"] == pytest.approx(alike) and line["relative_decrease"] == pytest.approx(1 - alike)
        assert line["succeeded"] == (chrf(adv, src) > alike)
    assert result.columns["output_likeness"][-1] == 0


@given(
    st.lists(st.tuples(*[text] * 5), min_size=1, max_size=6), st.sampled_from(["chrf", "bleu", "meteor", "exact-match"])
)
def test_what_holds_for_any_texts(rows: list[tuple[str, ...]], metric: str) -> None:
    columns = dict(zip(ALL, map(list, zip(*rows, strict=True)), strict=True))
    scorer = Scorer(text_metric(metric), text_metric(metric), 1)
    for some in (columns, {name: column for name, column in columns.items() if name != "ref"}):
        found = scorer.score(some)
        for name, values in found.items():
            assert (values >= 0).all() and (values <= (2 if name == "success" else 1)).all()
        unchanged = {**some, "adv_src": some["src"], "adv_out": some["out"]}
        found = scorer.score(unchanged)
        assert (found["source_likeness"] == 1).all() and (found["relative_decrease"] == 0).all()
        assert not found["succeeded"].any(), "what changes nothing is no attack"


def test_two_attacks_are_compared() -> None:
    random = np.random.default_rng(0)
    sources = ["".join(random.choice(list("abcde "), 30)) for _ in range(60)]
    spoilt = [source[:10] + "xxxx" + source[14:] for source in sources]
    little = [source[:10] + "x" + source[11:] for source in sources]
    result = scuff.meaning(sources, little, sources, spoilt, other_adv_src=spoilt, other_adv_out=spoilt)
    first, other = scuff.meaning(sources, little, sources, spoilt), scuff.meaning(sources, spoilt, sources, spoilt)
    assert result.summary["other"]["source_likeness"] == other.summary["source_likeness"]
    assert result.summary["source_likeness"] == first.summary["source_likeness"]
    gap = result.summary["comparison"]
    assert list(gap) == ["source_likeness", "relative_decrease", "success", "succeeded"]
    assert gap["source_likeness"]["difference"] == pytest.approx(first.source_likeness - other.source_likeness)
    assert gap["source_likeness"]["p"] < 0.01 and gap["source_likeness"]["interval"][0] > 0
    assert gap["relative_decrease"] == {"difference": 0, "interval": [0, 0], "p": 1}, "the outputs are the same"
    assert "this attack less the other" in str(result) and "the other attack" in str(result)
    only = scuff.meaning(sources, little, other_adv_src=spoilt)
    assert list(only.summary["comparison"]) == ["source_likeness"]


def test_blocks_seeds_and_order_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scuff.meaning(**ALL)
    monkeypatch.setattr(aligned, "BLOCK", 2)
    assert scuff.meaning(**ALL).summary == whole.summary
    again = scuff.meaning(**ALL, seed=1)
    assert again.source_likeness == whole.source_likeness and again.summary != whole.summary


@pytest.mark.parametrize("lines", [3, LARGE, LARGE + 1])
def test_texts_that_do_not_change(lines: int) -> None:
    """Wilson's interval for shares, whatever the number of lines; S is no share, and has no spread here."""
    texts = ["a b"] * lines
    found = scuff.meaning(texts, texts, texts, texts, texts)
    for name, value in (("source_likeness", 1), ("clean_score", 1), ("relative_decrease", 0), ("succeeded", 0)):
        entry = found.summary[name]  # type: ignore[literal-required]
        assert entry["interval"] == list(wilson(value, lines)) and 0 <= entry["interval"][0] < entry["interval"][1] <= 1
    assert found.summary["success"]["interval"] == [1, 1] and f"\nsuccess: {WITHOUT_WIDTH}\n" in str(found)


def test_one_value_on_all_lines() -> None:
    found = scuff.meaning(["a", "b", "c"], ["d", "e", "f"], source_metric=lambda text, reference: 0.5)
    assert found.summary["source_likeness"]["interval"] == [
        0.5,
        0.5,
    ] and f"\nsource likeness: {WITHOUT_WIDTH}\n" in str(found)
    assert WITHOUT_WIDTH not in str(scuff.meaning(SRC, ADV))
    twice = scuff.meaning(SRC, ADV, other_adv_src=ADV)
    assert f"\nsource likeness, difference: {WITHOUT_WIDTH}\n" in str(twice)


def test_one_of_many_lines_changed() -> None:
    texts = ["a b"] * (LARGE + 1)
    changed = ["a c", *texts[1:]]
    found = scuff.meaning(texts, changed, texts, changed, texts).summary
    assert found["source_likeness"]["interval"][1] == 1 and found["relative_decrease"]["interval"][0] == 0


def test_an_empty_reference() -> None:
    """sacrebleu gives an empty output 0, so nothing can be lost; without references an unchanged output is 1."""
    with_it = scuff.meaning(out=["", ""], adv_out=["", "a"], ref=["", ""])
    assert with_it.columns["clean_score"].tolist() == with_it.columns["relative_decrease"].tolist() == [0, 0]
    without = scuff.meaning(out=["", ""], adv_out=["", "a"])
    assert without.columns["output_likeness"].tolist() == [1, 0]


def test_one_line() -> None:
    result = scuff.meaning(["a b"], ["a c"])
    assert result.summary["source_likeness"]["deviation"] is None and " - " in str(result)


def test_the_table() -> None:
    shown = str(scuff.meaning(**ALL, source_metric=Meteor(english=False)))
    for part in (
        "5 lines", "source likeness (s_src)", "relative decrease (d_tgt)", "succeeded (S > 1), %", " of 5",
        "source: METEOR: nrefs:1|case:lc", "target: chrF: nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:",
    ):  # fmt: skip
        assert part in shown
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_a_frame_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    result = scuff.meaning(pandas.Series(SRC), np.array(ADV))
    assert pandas.DataFrame(result.columns)["source_likeness"].mean() == pytest.approx(result.source_likeness)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({}, {}, "expected src and adv_src, out and adv_out, or all four for meaning, got none"),
        ({"src": SRC}, {}, "expected adv_src with src for meaning, got none"),
        ({"ref": REF, "src": SRC, "adv_src": ADV}, {}, "expected out with ref for meaning, got none"),
        ({**ALL, "other_adv_src": ADV}, {}, "expected other_adv_out with adv_out for meaning, got none"),
        ({"src": SRC, "adv_src": ADV, "other_adv_out": ADV}, {}, "expected adv_out with other_adv_out"),
        (ALL, {"threshold": -1}, "expected a number from 0 for meaning.threshold, got -1"),
        (ALL, {"source_metric": "chrff"}, "expected the name of a metric, got 'chrff'; did you mean chrf"),
        (ALL, {"target_metric": Accuracy()}, "expected a metric for text, got accuracy"),
        (ALL, {"target_metric": lambda a, b: 50.0}, r"expected values from 0 to 1 from .*, got 50 for line 1"),
        (ALL, {"target_metric": lambda a, b: None}, r"expected a number from .*\(text, reference\), got None"),
    ],
)  # fmt: skip
def test_mistakes_are_told(columns: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scuff.meaning(**columns, **options)


MILLION = """
import sys
from pathlib import Path
import scuff
names = ("src", "adv_src", "out", "adv_out", "ref")
result = scuff.meaning(**dict(zip(names, sys.argv[1:])))
peak = next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(result.summary["lines"], result.succeeded, int(peak) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux, which tells the peak of memory")
def test_a_million_lines_in_bounded_memory(tmp_path: Path) -> None:
    """Five files, 100 MB in all: blocks of texts are held, and six numbers a line."""
    for name, lines in (("few", 1), ("many", 200_000)):
        for column, texts in ALL.items():
            (tmp_path / f"{name}-{column}").write_text("\n".join(texts * lines) + "\n", encoding="utf-8")
    printed = {}
    for name in ("few", "many"):
        files = [str(tmp_path / f"{name}-{column}") for column in ALL]
        done = subprocess.run([sys.executable, "-c", MILLION, *files], capture_output=True, text=True, check=True)
        printed[name] = done.stdout.split()
    assert printed["many"][0] == "1000000" and printed["many"][1] == printed["few"][1]
    assert int(printed["many"][2]) - int(printed["few"][2]) < 250, printed
