"""Labels that the model, the data, a sample of it and a cache do not have in common: no number may depend on that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import scuff
from scuff.cli.main import _fail, main
from scuff.victims.plain import Plain
from victims.scripted import serving

SMALL: dict[str, Any] = {"dimensions": ["keyboard"], "degrees": [0.3], "cases": 3}
TEXTS = [
    f"{word} {at} times round the old market square and home again"
    for at in range(12)
    for word in ("walked", "drove", "flew")
]
KINDS = {"walked": "foot", "drove": "car", "flew": "air"}
MODEL = "def predict(texts):\n    return [{'walked': 'foot', 'drove': 'car'}.get(t.split()[0], 'air') for t in texts]\n"


def kind(text: str) -> str:
    return KINDS[text.split()[0]]


def predict(texts: list[str]) -> list[str]:
    return [KINDS.get(text.split()[0], "air") for text in texts]


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "travel.py").write_text(MODEL)
    return f"{tmp_path}/travel.py:predict"


def written(path: Path, rows: list[tuple[str, str]]) -> str:
    path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    return str(path)


def test_workers_know_labels_that_the_sample_lacks(model: str, tmp_path: Path) -> None:
    """`air` comes first in the alphabet and is in the data, but not among the examples that are asked about."""
    rows = [(text, kind(text)) for text in TEXTS if kind(text) != "air"] + [("flew away", "air")]
    data = written(tmp_path / "data.jsonl", rows)
    settings = {**SMALL, "examples": 2, "seed": 3}
    one, two = (scuff.evaluate(model, data, tmp_path / str(n), workers=n, **settings).summary for n in (1, 2))
    assert one == two and one["clean"]["score"]["value"] == 1


def test_a_cache_does_not_mix_the_labels_of_two_data_sets(model: str, tmp_path: Path) -> None:
    settings = {**SMALL, "cache": str(tmp_path / "cache.db")}
    few = [(text, kind(text)) for text in TEXTS if kind(text) != "car"]
    assert scuff.evaluate(model, few, **settings).clean == 1
    assert scuff.evaluate(model, [(text, kind(text)) for text in TEXTS], **settings).clean == 1


def test_a_model_that_changed_under_its_name_is_not_read_from_the_cache(tmp_path: Path) -> None:
    data = sorted(((text, kind(text)) for text in TEXTS), key=lambda row: row[1])  # sorted by label, as files often are
    settings = {**SMALL, "cache": str(tmp_path / "cache.db")}
    weights = {"flew": "air"}

    def learnt(texts: list[str]) -> list[str]:
        return [weights.get(text.split()[0], KINDS.get(text.split()[0], "air")) for text in texts]

    assert scuff.evaluate(learnt, data, **settings).clean == 1
    weights["flew"] = "car"
    assert scuff.evaluate(learnt, data, **settings).clean == pytest.approx(2 / 3)


def test_labels_of_the_data_can_be_mapped_to_those_of_a_function() -> None:
    data = [(text, kind(text).upper() + "-WAY") for text in TEXTS]
    names = {label.upper() + "-WAY": label for label in KINDS.values()}
    assert scuff.evaluate(predict, data, map=names, **SMALL).clean == 1


def test_numbers_that_are_no_places_are_names() -> None:
    """Data labelled 0 and 2: an answer 1 is another label, and a row of three scores has no names."""
    victim = Plain(lambda texts: [0, 1, 2], "single", ())
    victim.assume(["0", "2"])
    assert victim(["a", "b", "c"]).answers.tolist() == [0, 2, 1] and victim.labels[2] == "(other)"
    scores = Plain(lambda texts: [[0.1, 0.2, 0.7]], "single", ())
    scores.assume(["0", "2"])
    with pytest.raises(ValueError, match="give them in its order with --labels"):
        scores(["a"])


def test_scores_of_labels_that_the_data_lacks_do_not_add_up() -> None:
    row = {"foot": 0.35, "car": 0.25, "air": 0.2, "sea": 0.2}
    victim = Plain(lambda texts: [row], "single", ())
    victim.assume(["car", "foot"])
    assert victim(["a"]).answers[0].tolist() == pytest.approx([0.25, 0.35, 0.2])


def test_no_more_is_asked_than_was_said() -> None:
    seen: list[str] = []

    def counting(texts: list[str]) -> list[str]:
        seen.extend(texts)
        return predict(texts)

    data = [(text, kind(text)) for text in TEXTS]
    scuff.evaluate(counting, data, max_queries=2 * len(data), **SMALL)
    assert len(TEXTS) < len(seen) <= 2 * len(data)


def test_a_class_may_be_called_minus_one() -> None:
    data = [(text, {"foot": -1, "car": 0, "air": 1}[kind(text)]) for text in TEXTS]
    numbers = {"foot": "-1", "car": "0", "air": "1"}
    result = scuff.evaluate(lambda texts: [numbers[label] for label in predict(texts)], data, **SMALL)
    assert result.clean == 1 and result.summary["clean"]["examples"] == len(TEXTS)


def test_raw_scores_are_not_taken_for_probabilities_because_the_first_are_small() -> None:
    """Logits by name, of which the first row happens to be in [0, 1]: the batch shows what they are."""
    shift = [0.1, -3.0, 4.0]

    def logits(texts: list[str]) -> list[dict[str, float]]:
        rows = zip(texts, predict(texts), strict=True)
        return [{k: shift[len(t) % 3] + 0.7 * (k == v) for k in KINDS.values()} for t, v in rows]

    data = [(text, kind(text)) for text in TEXTS]
    assert scuff.evaluate(logits, data, **SMALL).clean == 1


def test_the_auc_of_a_model_that_is_very_sure(tmp_path: Path) -> None:
    """Probabilities that are 1 to the last digit still have an order."""
    data = [(f"{at} drops of rain fell upon the roof today", "wet" if at % 3 else "dry") for at in range(60)]
    sure = {text: 20 + 0.05 * at + (label == "wet") for at, (text, label) in enumerate(data)}

    def logits(texts: list[str]) -> list[list[float]]:
        return [[0.0, sure.get(text, 20.0)] for text in texts]

    found = scuff.evaluate(logits, data, labels=["dry", "wet"], **SMALL).summary["clean"]["auc"]["value"]
    metrics = pytest.importorskip("sklearn.metrics")
    wanted = metrics.roc_auc_score([label == "wet" for _, label in data], [sure[text] for text, _ in data])
    assert found == pytest.approx(wanted, abs=1e-6)


def test_answers_that_count_from_nought_are_told() -> None:
    data = [(text, {"foot": 1, "car": 2, "air": 3}[kind(text)]) for text in TEXTS]
    places = ["foot", "car", "air"]
    with pytest.raises(ValueError, match=r"expected one of 1, 2, 3 from .* got 0: does it count from 0"):
        scuff.evaluate(lambda texts: [places.index(label) for label in predict(texts)], data, **SMALL)


def test_a_model_that_says_none_of_the_labels_means_no_label() -> None:
    data = [(text, [] if kind(text) == "foot" else [kind(text)]) for text in TEXTS]
    result = scuff.evaluate(lambda texts: [["none" if v == "foot" else v] for v in predict(texts)], data, **SMALL)
    assert result.clean == 1


def test_true_and_false_are_labels() -> None:
    data = [(text, kind(text) == "foot") for text in TEXTS]
    assert scuff.evaluate(lambda texts: [label == "foot" for label in predict(texts)], data, **SMALL).clean == 1


# an answer that is none of the labels

UNKNOWN = {"name": "mixed", "another": "LABEL_7", "empty": ""}


def lost_in_air(texts: list[str], unknown: Any) -> list[Any]:
    return [unknown if label == "air" else label for label in predict(texts)]


@pytest.mark.parametrize(
    ("way", "unknown"),
    [
        *(("function", unknown) for unknown in UNKNOWN),
        *((way, "name") for way in ("endpoint", "predictions", "scores")),
    ],
)
def test_an_unknown_label_means_the_same_with_labels_and_without(unknown: str, way: str, tmp_path: Path) -> None:
    """It is a wrong answer, and no missing one, whoever named the labels."""
    data = [(text, kind(text)) for text in TEXTS]
    found = []
    with serving(lambda body, _: lost_in_air(body["inputs"], UNKNOWN[unknown])) as server:
        for settings in ({}, {"labels": ["foot", "car", "air"]}):
            model: Any = lambda texts: lost_in_air(texts, UNKNOWN[unknown])  # noqa: E731
            if way == "scores":
                model = lambda texts: [{"label": a, "score": 0.9} for a in lost_in_air(texts, UNKNOWN[unknown])]  # noqa: E731
            if way == "endpoint":
                model = server.url
            if way == "predictions":
                rows = [{"text": text, "prediction": lost_in_air([text], UNKNOWN[unknown])[0] or "?"} for text in TEXTS]
                (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
                model, settings = None, {**settings, "predictions": [str(tmp_path / "p.jsonl")]}
            clean = scuff.evaluate(
                model, data, **SMALL, **settings, **({"protect": ["re:.*"]} if way == "predictions" else {})
            ).summary["clean"]
            found.append((clean["score"]["value"], clean["answered"], clean["unparsed"]))
    assert found == [(pytest.approx(2 / 3, abs=1e-6), len(TEXTS), 0)] * 2


def test_an_unknown_label_in_a_set_means_the_same_with_labels_and_without() -> None:
    data = [(text, [kind(text)]) for text in TEXTS]

    def sets(texts: list[str]) -> list[list[str]]:
        return [[label, "night"] if label == "car" else [label] for label in predict(texts)]

    for settings in ({}, {"labels": ["foot", "car", "air"]}):
        clean = scuff.evaluate(sets, data, task="multi", **SMALL, **settings).summary["clean"]
        assert clean["score"]["value"] == pytest.approx(2 / 3, abs=1e-6) and clean["unparsed"] == 0


def test_a_place_that_the_labels_do_not_have_is_a_wrong_answer_and_talk_is_none() -> None:
    places = {"foot": 0, "car": 1, "air": 7}
    data = [(text, kind(text)) for text in TEXTS]
    settings = {**SMALL, "labels": ["foot", "car", "air"]}
    clean = scuff.evaluate(lambda texts: [places[label] for label in predict(texts)], data, **settings).summary["clean"]
    assert clean["score"]["value"] == pytest.approx(2 / 3, abs=1e-6) and clean["answered"] == len(TEXTS)
    talk = {
        "foot": "foot",
        "car": "car",
        "air": "I think that this one must have gone by air, although it is hard to tell",
    }
    clean = scuff.evaluate(lambda texts: [talk[label] for label in predict(texts)], data, **settings).summary["clean"]
    assert clean["unparsed"] == len(TEXTS) // 3 and clean["score"]["value"] == 1


# long lists


def test_errors_name_a_few_of_many_labels_and_their_number(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    many = [f"label number {n}" for n in range(2000)]
    data = [(f"text {n}", label) for n, label in enumerate(many)]
    for model, settings in (
        (lambda texts: ["x"] * len(texts), {}),
        (lambda texts: [[0.1, 0.9]] * len(texts), {}),
        (lambda texts: [[0.1, 0.9]] * len(texts), {"labels": many}),
        ("toy:sentiment", {}),
        (lambda texts: ["x"] * len(texts), {"labels": ["a", "b"]}),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - its length counts
            scuff.evaluate(model, data, **SMALL, **settings)
        assert len(str(caught.value)) < 900 and "2,000 in all" in str(caught.value)
    file = written(tmp_path / "data.jsonl", data)
    assert main(["evaluate", "toy:sentiment", file]) == 2
    assert "2,000 in all" in (error := capsys.readouterr().err) and len(error) < 900


def test_an_error_that_is_too_long_is_cut_in_the_middle(capsys: pytest.CaptureFixture[str]) -> None:
    assert _fail("expected " + "x" * 9000 + ": do this", 2) == 2
    error = capsys.readouterr().err
    assert len(error) < 2100 and error.startswith("scuff: expected x") and error.endswith("x: do this\n")


# empty texts


def test_empty_texts_are_told_of() -> None:
    said: list[str] = []
    data = [*((text, kind(text)) for text in TEXTS), ("", "air"), ("  \n", "air")]
    model = lambda texts: [KINDS.get((text.split() or [""])[0], "air") for text in texts]  # noqa: E731
    result = scuff.evaluate(model, data, say=said.append, **SMALL)
    told = "2 {} with an empty text, which is asked as it is and cannot change"
    assert any(line.startswith("data ") and line.endswith(told.format("").replace("  ", " ")) for line in said)
    assert told.format("examples") in str(result) and result.summary["data"]["empty"] == 2 and result.clean == 1
    few = scuff.evaluate(predict, data[:-2], **SMALL)
    assert "empty" not in few.summary["data"] and "empty text" not in str(few)
