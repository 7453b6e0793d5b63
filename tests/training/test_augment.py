"""Perturbed copies of training data: the degree holds, labels stay, no text occurs twice, order and size do not matter."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import scuff
from scuff.perturbations import blocks
from scuff.perturbations.names import NAMES
from scuff.training.augmentation import Augmentation
from strategies import text

SENTENCE = "the staff were friendly and every room was spotless although breakfast ended rather early this morning"
WORDS = SENTENCE.split()
DATA = [
    (" ".join(random.Random(at).sample(WORDS, 12)) + f" number {at}", "pos" if at % 3 else "neg") for at in range(90)
]
ODD = [
    "",
    " ",
    "\n",
    "😀 👩‍👩‍👧",
    "שלום לכולם כאן",
    "e\u0301te\u0301 a\u0300 Paris",
    "\x00\x07 bell",
    "12 + 3 = 15",
    "...",
    "word " * 3000,
]


def test_each_example_is_followed_by_its_copies_with_its_label() -> None:
    rows = scuff.augment(DATA, dimensions=["keyboard", "natural"], copies=2)
    assert [row for row in rows if row in DATA] == DATA and len(rows) == 3 * len(DATA)
    for at, (before, label) in enumerate(DATA):
        first, *copies = rows[3 * at : 3 * at + 3]
        assert first == (before, label)
        assert all(tag == label and new != before and Levenshtein.distance(new, before) < 9 for new, tag in copies)


@given(st.lists(text, min_size=1, max_size=6), st.sampled_from([0.05, 0.1, 0.34, 1.0]), st.integers(1, 4))
def test_no_copy_is_above_the_degree(texts: list[str], degree: float, copies: int) -> None:
    data = [{"text": each, "label": "x"} for each in dict.fromkeys(texts)]
    rows = scuff.augment(
        data, dimensions=["keyboard@edits", "intrude"], degree=degree, copies=copies, trace=True, only_perturbed=True
    )
    for row in rows:
        before = data[int(row["scuff_source"])]["text"]
        assert 0 < row["scuff_degree"] <= degree + 1e-4 and row["text"] != before
        if row["scuff_dimension"] == "keyboard@edits":
            assert Levenshtein.distance(before, row["text"]) <= degree * len(before) + 1e-9


def test_a_share_of_words_is_counted_in_words() -> None:
    rows = scuff.augment(DATA, dimensions=["keyboard"], degree=0.15, only_perturbed=True)
    for (before, _), (after, _) in zip(DATA, rows, strict=True):
        pairs = list(zip(before.split(), after.split(), strict=True))
        assert sum(old != new for old, new in pairs) == 2, "15 % of 14 words, rounded down"


@pytest.mark.parametrize("ids", [False, True])
def test_order_and_size_of_the_data_change_nothing(ids: bool) -> None:
    data = [{"text": each, "label": label, "name": f"n{at}"} for at, (each, label) in enumerate(DATA)]
    options: dict[str, Any] = {"dimensions": ["keyboard", "visual@edits", "truncate"], "copies": 2, "share": 0.6}
    options |= {"id": "name"} if ids else {}

    def by_name(rows: list[Any]) -> dict[str, list[str]]:
        out: dict[str, list[str]] = {}
        for row in rows:
            out.setdefault(row["name"], []).append(row["text"])
        return out

    whole = by_name(scuff.augment(data, **options))
    mixed = random.Random(1).sample(data, len(data))
    assert by_name(scuff.augment(mixed, **options)) == whole
    assert by_name(scuff.augment(data[20:50], **options)) == {row["name"]: whole[row["name"]] for row in data[20:50]}
    assert by_name(scuff.augment(data, **options)) == whole != by_name(scuff.augment(data, **options, seed=1))


def test_blocks_change_nothing_but_time(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scuff.augment(DATA, dimensions=["keyboard", "visual@edits"], copies=2)
    monkeypatch.setattr(blocks, "BLOCK", 100)
    assert scuff.augment(DATA, dimensions=["keyboard", "visual@edits"], copies=2) == whole


def test_how_many() -> None:
    def count(**options: Any) -> int:
        return len(scuff.augment(DATA, dimensions=["keyboard", "truncate"], only_perturbed=True, **options))

    assert count() == count(ratio="1:1") == 90 and count(ratio="1:3") == count(copies=3) == 270
    assert 25 < count(ratio="2:1") < 65 and 25 < count(share=0.5) < 65 and 50 < count(share=0.5, copies=2) < 130
    assert 90 + 25 < count(ratio="2:3") < 90 + 65, "one copy of each and another of half of them"
    assert count(each=True) == 180 and count(each=True, copies=2) == 360
    assert len(scuff.augment(DATA, ratio="1:1", dimensions=["keyboard"])) == 180


def test_dimensions_take_turns() -> None:
    names = ["keyboard", "truncate", "disemvowel"]

    def drawn(**options: Any) -> list[str]:
        rows = scuff.augment(DATA, trace=True, only_perturbed=True, **options)
        return [row["scuff_dimension"] for row in rows]

    one = Counter(drawn(dimensions=names))
    assert set(one) == set(names) and min(one.values()) > 15
    three = drawn(dimensions=names, copies=3)
    assert all(set(three[at : at + 3]) == set(names) for at in range(0, 270, 3)), "all before one comes again"
    assert drawn(dimensions=names, each=True) == names * 90
    again = scuff.augment(DATA, dimensions=names[::-1], only_perturbed=True)
    assert again == scuff.augment(DATA, dimensions=names, only_perturbed=True), "whatever order they are named in"


def test_a_dimension_that_cannot_change_a_text_gives_way() -> None:
    short = [(f"only five words here {at}", "x") for at in range(40)]
    assert len(scuff.augment(short, dimensions=["keyboard"], only_perturbed=True)) == 0, "10 % of 5 words is none"
    rows = scuff.augment(short, dimensions=["keyboard", "keyboard@edits"], only_perturbed=True, trace=True)
    assert len(rows) == 40 and {row["scuff_dimension"] for row in rows} == {"keyboard@edits"}
    assert len(scuff.augment(short, dimensions=["keyboard", "keyboard@edits"], each=True, only_perturbed=True)) == 40


def test_nothing_is_there_twice(tmp_path: Path) -> None:
    data = [("a bc", "x"), ("ab c", "y"), ("abc", "z"), ("a bc", "x")]
    copies = scuff.augment(data, dimensions=["segment"], degree=1, copies=5, only_perturbed=True)
    assert copies == [], "all that comes of them is there already"
    data = [(" ".join(pair), "x") for pair in ("ab", "ba")]
    made = Augmentation(dimensions="full-shuffle", degree=1, copies=9).write(data, str(tmp_path / "out.jsonl"))
    assert (made.examples, made.wanted) == (2, 18) and made.duplicates + made.copies.total() + made.unchanged == 18
    rows = scuff.augment([*DATA, *DATA], dimensions=["truncate", "keyboard"], copies=3, degree=0.2)
    texts = [each for each, _ in rows]
    assert len(set(texts)) == len(texts) - 90, "only the originals, which were twice there"
    named = [{"text": each, "label": "x", "id": at} for at, (each, _) in enumerate([*DATA, *DATA])]
    assert len(scuff.augment(named, dimensions=["keyboard"], id="id", degree=0.3)) > 340


@pytest.mark.parametrize("side", ["first", "second", "both"])
def test_sentence_pairs(side: str) -> None:
    data = [(each, f"{each} indeed", label) for each, label in DATA]
    rows = scuff.augment(data, dimensions=["keyboard"], side=side, only_perturbed=True, degree=0.2)
    changed = [(one != before, two != after) for (one, two, _), (before, after, _) in zip(rows, data, strict=True)]
    assert set(changed) == {(side == "first", side == "second")} if side != "both" else (True, True) in changed
    assert [row[2] for row in rows] == [row[2] for row in data]


def test_tokens_keep_their_tags() -> None:
    data = [{"tokens": each.split(), "tags": [word[0] for word in each.split()]} for each, _ in DATA]
    rows = scuff.augment(data, dimensions=["keyboard", "visual@edits"], only_perturbed=True, degree=0.3)
    assert len(rows) == 90
    for row, before in zip(rows, data, strict=True):
        assert (
            row["tags"] == before["tags"]
            and len(row["tokens"]) == len(row["tags"])
            and row["tokens"] != before["tokens"]
        )
    with pytest.raises(ValueError, match="expected perturbations that keep each token for tagging data, got segment"):
        scuff.augment(data, dimensions=["segment"])


def test_odd_texts() -> None:
    data = [{"text": each, "label": at, "more": [at]} for at, each in enumerate([*ODD, None])]
    rows = scuff.augment(data, dimensions=list(NAMES)[:12], degree=0.5, copies=2, each=True)
    assert [row for row in rows if row in data] == data, "they are all there, in their order"
    assert {row["label"] for row in rows if row not in data} >= {4, 5, 9} and all(
        row["more"] == [row["label"]] for row in rows
    )
    with pytest.raises(ValueError, match="expected text in Unicode, got"):
        scuff.augment([{"text": "half \ud83d", "label": 1}], dimensions=["keyboard"])


def test_perturbations_as_published() -> None:
    options: Any = {"dimensions": ["visual"], "degree": 0.5, "only_perturbed": True}
    ours, published = (scuff.augment(DATA, **options, as_published=flag) for flag in (False, True))
    named = scuff.augment(DATA, **options | {"dimensions": ["visual(scope='words', at_least_one=False)"]})
    assert published == named != ours
    options["dimensions"] = ["visual(scope='text')"]  # an option that the user wrote stays, be it the default
    kept = scuff.augment(DATA, **options, as_published=True)
    assert kept == scuff.augment(DATA, **options | {"dimensions": ["visual(at_least_one=False)"]}) != published


def test_protected_text_stays() -> None:
    data = [(f"please visit https://example.org/{at} as soon as you possibly can today", "x") for at in range(30)]
    rows = scuff.augment(data, dimensions=list(NAMES)[:12], degree=0.5, protect="urls", copies=3)
    assert len(rows) > 100 and all("https://example.org/" in each for each, _ in rows)


def test_all_that_evaluate_reads() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"review": [each for each, _ in DATA], "stars": range(90), "empty": [None] * 90})
    rows = scuff.augment(frame, dimensions=["keyboard"]).to_dict("records")
    assert rows[0] == {"review": DATA[0][0], "stars": 0, "empty": None} and rows[1].keys() == rows[0].keys()
    toy = scuff.augment("toy:sentiment", dimensions=["keyboard"], share=0.1, trace=True)
    assert len(toy) > 4200 and {row["label"] for row in toy} == {"negative", "positive"}
    assert sum(row["scuff_dimension"] is None and row["scuff_degree"] is None for row in toy) == 4000
    assert len(scuff.augment("toy:tone", dimensions=["keyboard"], share=0.1, split="test")) < 1100
    datasets = pytest.importorskip("datasets")
    held = datasets.Dataset.from_dict({"text": [each for each, _ in DATA], "label": [0, 1, 2] * 30})
    assert scuff.augment(held, dimensions=["keyboard"])["label"][::2] == [0, 1, 2] * 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degree": 0}, r"expected a number in \(0, 1\] for degree, got 0"),
        ({"share": 1.5}, r"expected a number in \(0, 1\] for share, got 1.5"),
        ({"copies": 0}, "expected more than 0 and at most 1000 copies of an example, got 0"),
        ({"ratio": "1/1"}, "expected clean:perturbed, such as 1:1 or 2:1, for ratio, got '1/1'"),
        ({"ratio": "0:1"}, "expected clean:perturbed"),
        ({"ratio": "1:1", "copies": 1}, "expected a ratio, or copies with share or each, got both"),
        ({"dimensions": ["keybord"]}, "did you mean keyboard"),
        ({"dimensions": ["keyboard", "mine=keyboard"]}, "expected each dimension once"),
        ({"dimensions": ["keyboard@level"]}, "expected a dimension whose degree is a limit, got keyboard@level"),
        ({"dimensions": ["keyboard@score"]}, "expected a dimension that asks no model, got keyboard@score"),
        ({"dimensions": ["keyboard"], "tag": "general"}, "expected tag or dimensions, got both"),
        ({"side": "second"}, "expected two columns of texts for side second, got text"),
        ({"side": "left"}, "expected first or second or both for side"),
        ({"text": ["body"]}, "expected a column 'body', got text, label"),
        ({"id": "name"}, "expected a column 'name', got text, label"),
        ({"protect": ["url"]}, "url"),
    ],
)  # fmt: skip
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scuff.augment(DATA, **{"dimensions": ["keyboard"], **options})


def test_default_dimensions_are_those_of_the_paper_that_can_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in ("dimensions", "plan"):
        monkeypatch.setattr(f"scuff.evaluation.{module}.COLUMNS", {"keyboard": "keyboard", "segment": "segment"})
    assert set(Augmentation().write(DATA, str(tmp_path / "out.jsonl")).copies) == {"keyboard", "segment"}
    tokens = [{"tokens": each.split(), "tags": each.split()} for each, _ in DATA]
    made = Augmentation().write(tokens, str(tmp_path / "out.jsonl"))
    assert set(made.copies) == {"keyboard"} and list(made.left_out) == ["segment"]


def test_no_data() -> None:
    with pytest.raises(ValueError, match="expected a file, a Hugging Face data set, a DataFrame, or a list"):
        scuff.augment([])
    with pytest.raises(ValueError, match="expected --text NAME"):
        scuff.augment([{"a": "b"}])
