"""Attacks on text-to-text models: functions, endpoints, Hugging Face models; both halves; data and answers of all kinds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff
from reports.page import Page
from scuff.attacks.search import SEARCHES
from scuff.cli.main import main
from scuff.metrics.interval import wilson
from victims.scripted import serving

PAIRS = [
    ("der Hund sieht die Katze", "the dog sees the cat"),
    ("die Frau kauft ein Haus", "the woman buys a house"),
    ("das Kind liest ein Buch im Garten", "the child reads a book in the garden"),
    ("der Mann sucht den Hund", "the man seeks the dog"),
]
WORDS = {
    "der": "the", "die": "the", "das": "the", "den": "the", "ein": "a", "im": "in the", "hund": "dog", "katze": "cat",
    "sieht": "sees", "frau": "woman", "kauft": "buys", "haus": "house", "kind": "child", "liest": "reads", "buch": "book",
    "garten": "garden", "mann": "man", "sucht": "seeks",
}  # fmt: skip
FAST: dict[str, Any] = {"recipe": "deepwordbug", "task": "text", "encoder": "chrf", "without": ["stop-words"]}


def by_words(texts: list[str]) -> list[str]:
    """Word by word; a word that it does not know is left out."""
    return [" ".join(WORDS[word] for word in text.lower().split() if word in WORDS) for text in texts]


def attack(model: Any = by_words, data: Any = PAIRS, **settings: Any) -> Any:
    return scuff.attack(model, data, **{**FAST, **settings})


@pytest.mark.parametrize("search", [name for name, kind in SEARCHES.items() if not (kind.slopes or name == "gradient")])
def test_every_search_lowers_the_score(search: str) -> None:
    small = {"genetic": "genetic(population=6, generations=3)", "best-of": "best-of(n=12)"}
    result = attack(search=small.get(search, search))
    found = result.summary["tradeoff"]
    assert found["of"] == 4 and found["decrease"]["value"] > 0.3 and result.success == 1
    assert found["after"]["value"] < found["before"]["value"] and 0 < found["source"]["value"] < 1
    assert "accuracy" not in str(result) and "relative decrease" in str(result) and "source chrF" in str(result)


def test_both_halves_are_those_of_sacrebleu() -> None:
    chrf = pytest.importorskip("sacrebleu.metrics.chrf").CHRF()

    def score(text: str, reference: str) -> float:
        return float(chrf.sentence_score(text, [reference]).score) / 100

    result = attack(constraint=["changed(share=0.5)"])
    for line in result.lines:
        tried, halves = line["adversarial"], line["tradeoff"]
        source = score(tried["texts"][0], line["texts"][0])
        before, after = score(line["clean"]["answer"], line["target"]), score(tried["answer"], line["target"])
        decrease = 0.0 if after >= before else (before - after) / before
        wanted = {
            "source": source,
            "before": before,
            "after": after,
            "decrease": decrease,
            "success": source + decrease,
        }
        assert halves == pytest.approx(wanted, abs=1e-6)
        assert (line["status"] == "succeeded") == (source + decrease > 1)
        assert by_words([tried["texts"][0]]) == [tried["answer"]]
    found = result.summary["tradeoff"]
    for half in ("source", "before", "after", "decrease", "success"):
        values = [line["tradeoff"][half] for line in result.lines]
        low, high = found[half]["interval"]
        assert found[half]["value"] == pytest.approx(np.mean(values), abs=1e-6) and low <= found[half]["value"] <= high
    won = sum(line["tradeoff"]["success"] > 1 for line in result.lines)
    assert (found["succeeded"]["count"], found["succeeded"]["value"]) == (won, won / 4)


def test_a_failed_attack_counts_in_both_halves() -> None:
    result = attack(lambda texts: ["always the same"] * len(texts), [("some text", "always the same")])
    (line,) = result.lines
    assert line["status"] == "failed" and line["adversarial"] is None
    assert line["tradeoff"] == {"source": 1, "before": 1, "after": 1, "decrease": 0, "success": 1}
    found = result.summary["tradeoff"]
    assert found["succeeded"]["count"] == 0
    assert found["source"]["interval"] == pytest.approx(wilson(1, 1), abs=1e-6), (
        "one text does not prove that all are so"
    )
    assert found["success"]["interval"] == [1, 1], "S is no share"


def test_a_stopped_search_asks_less() -> None:
    whole, first = attack(), attack(goal="decrease(stop=True)")
    assert first.success == whole.success == 1
    assert first.summary["queries"]["total"] < whole.summary["queries"]["total"]
    assert first.summary["tradeoff"]["decrease"]["value"] < whole.summary["tradeoff"]["decrease"]["value"]


def test_least_chrf_of_the_source_holds() -> None:
    result = attack(constraint=["chrf(least=0.8)"])
    assert min(line["tradeoff"]["source"] for line in result.lines) >= 0.8


def test_other_goals_report_both_halves_too() -> None:
    result = attack(goal="no-overlap(anywhere=True)", search="greedy")
    assert result.success > 0 and result.summary["tradeoff"]["metric"] == "chrf"
    for line in result.lines:
        left = set(line["adversarial"]["answer"].split()) & set(line["clean"]["answer"].split())
        assert (line["status"] == "succeeded") == (not left)
    keyed = attack(
        lambda texts: ["Never!" if "Hund" not in text else "the dog" for text in texts],
        PAIRS[:2],
        goal="keyword(word='never')",
    )
    assert [(line["status"], line["reason"]) for line in keyed.lines] == [
        ("succeeded", ""),
        ("skipped", "has the keyword already"),
    ]
    assert keyed.summary["tradeoff"]["of"] == 1
    bleu = attack(goal="decrease(metric='bleu')").summary["tradeoff"]
    assert bleu["metric"] == "bleu" and bleu["decrease"]["value"] > 0.3


def test_data_without_references() -> None:
    texts = [source for source, _ in PAIRS]
    with pytest.raises(ValueError, match=r"list: expected references for the goal decrease, got none: --label NAME"):
        attack(data=texts)
    with pytest.raises(ValueError, match="list: expected references for an evaluation, got none"):
        scuff.evaluate(by_words, texts, task="text", dimensions=["keyboard"])
    result = attack(data=texts, goal="decrease(against='output')")
    found = result.summary["tradeoff"]
    assert found["against"] == "output" and found["before"]["value"] == 1 and found["decrease"]["value"] > 0.3
    assert result.summary["clean"]["value"] is None and "its texts for the original sources" in str(result)
    other = attack(data=texts, goal="no-overlap").summary["tradeoff"]
    assert other["against"] == "output" and other["before"]["value"] == 1


def test_as_many_are_sampled_as_can_be_attacked() -> None:
    rows = [*PAIRS, *((f"xyz {number}", "nothing of this") for number in range(20))]
    result = attack(data=rows, attacked=3)
    assert result.summary["success"]["of"] == 3 and set(result.summary["skipped"]) <= {"scores 0 already"}


def test_a_text_per_line(tmp_path: Path) -> None:
    path = tmp_path / "source.txt"
    path.write_bytes(b"der Hund sieht die Katze\r\ndas Kind liest ein Buch")
    result = attack(data=str(path), goal="decrease(against='output')")
    assert [line["texts"] for line in result.lines] == [["der Hund sieht die Katze"], ["das Kind liest ein Buch"]]
    with pytest.raises(ValueError, match="expected labelled data"):
        attack(data=str(path), task=None)


def test_references_that_are_missing_in_some_rows() -> None:
    rows = [
        {"source": "der Hund", "target": "the dog"},
        {"source": "die Katze", "target": None},
        {"source": "das Haus", "target": ""},
    ]
    result = attack(data=rows, task=None)
    assert result.summary["data"]["skipped"] == {}
    assert [(line["status"], line["reason"]) for line in result.lines] == [
        ("succeeded", ""),
        ("skipped", "no reference"),
        ("skipped", "no reference"),
    ]
    assert "tradeoff" not in result.lines[1]
    with pytest.raises(ValueError, match="expected text in column 'source', got 3"):
        attack(data=[*rows, {"source": 3, "target": "x"}])
    scored = scuff.evaluate(by_words, rows[:2], dimensions=["keyboard"]).summary
    assert scored["data"]["skipped"] == {"no label": 1}  # an evaluation needs references


def test_texts_without_a_reference_lower_no_mean(tmp_path: Path) -> None:
    """Goals that need no reference attack these texts, too; the means are those of the others."""
    bare = [{"source": source, "target": empty} for (source, _), empty in zip(PAIRS[2:], (None, " "), strict=True)]
    rows = [{"source": source, "target": target} for source, target in PAIRS[:2]]
    said: list[str] = []
    mixed = attack(data=[*rows, *bare], goal="no-overlap", output=tmp_path / "run", say=said.append)
    alone = attack(data=rows, goal="no-overlap")
    found = mixed.summary["tradeoff"]
    assert (found["of"], found["unscored"], mixed.summary["success"]["of"]) == (2, 2, 4)
    assert {**alone.summary["tradeoff"], "unscored": 2} == found and "unscored" not in alone.summary["tradeoff"]
    assert mixed.summary["clean"] == alone.summary["clean"] and mixed.summary["after"] == alone.summary["after"]
    for line in mixed.lines[2:]:
        halves = line["tradeoff"]
        assert 0 < halves.pop("source") < 1 and set(halves.values()) == {None}
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count('class="tile"') == 6
    for shown in (str(mixed), page):
        assert "2 attacked texts had no reference, left out of both halves and S" in " ".join(shown.split())
        assert "of 2 attacked with a reference" in shown and "had no reference" not in str(alone)
    assert any("on 2 examples, 2 without a reference" in line for line in said)


def test_a_sole_column_holds_the_sources(tmp_path: Path) -> None:
    path = tmp_path / "sources.jsonl"
    path.write_text("".join(json.dumps({"id": at, "source": text}) + "\n" for at, (text, _) in enumerate(PAIRS)))
    result = attack(data=str(path), id="id", goal="no-overlap")
    assert [line["texts"] for line in result.lines] == [[source] for source, _ in PAIRS]
    with pytest.raises(ValueError, match=r"expected --text NAME .*, one of: id, source"):
        attack(data=str(path), goal="no-overlap")


def test_empty_outputs() -> None:
    result = attack(
        lambda texts: ["" if "Katze" in text else "the dog" for text in texts],
        [("der Hund", "the dog"), ("die Katze", "the cat")],
    )
    assert [line["reason"] for line in result.lines] == ["", "scores 0 already"]
    silent = attack(lambda texts: [text if text == "der Hund" else "" for text in texts], [("der Hund", "der Hund")])
    assert silent.lines[0]["adversarial"]["answer"] == "" and silent.lines[0]["tradeoff"]["decrease"] == 1
    nothing = attack(lambda texts: [""] * len(texts), [("der Hund", "the dog")]).summary
    assert nothing["status"]["skipped"] == 1 and nothing["tradeoff"]["of"] == 0
    assert nothing["tradeoff"]["source"] == {"value": None, "interval": [None, None]}


@pytest.mark.parametrize(
    "text", ["👍🏽 sehr 👨‍👩‍👧 gut", "שלום לכולם כאן", "مرحبا بالعالم", "wort " * 4000, "a\u0301bc \u200d xyz"]
)
def test_texts_of_all_kinds(text: str, tmp_path: Path) -> None:
    def echo(texts: list[str]) -> list[str]:
        return [one[::-1] if one == text else one.upper()[::-1] for one in texts]

    result = attack(echo, [(text, text[::-1])], output=tmp_path / "run", max_queries=12)
    (line,) = result.lines
    assert line["status"] in ("succeeded", "failed") and 0 <= line["tradeoff"]["decrease"] <= 1
    Page((tmp_path / "run" / "report.html").read_text())


def test_an_endpoint(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in PAIRS))
    asked: list[str] = []

    def script(body: Any, number: int) -> Any:
        asked.append(body["text"])
        text = by_words([body["text"]])[0]
        return {"translation": None if "Frau" not in body["text"] and "kauft" in body["text"] else text}

    with serving(script) as server:
        run = tmp_path / "run"
        options = ["--with", "request={'text': '{text}'}", "answer=translation", "batch=1", "backoff=0.01"]
        parts = ["--recipe", "deepwordbug", "--encoder", "chrf", "--no-stop-words", "--goal", "decrease(stop=True)"]
        assert main(["attack", server.url, str(data), "-o", str(run), *parts, *options]) == 0
    summary = json.loads((run / "summary.json").read_text())
    assert summary["tradeoff"]["succeeded"]["count"] >= 3 and summary["queries"]["unanswered"] > 0
    assert all(line["tradeoff"] for line in map(json.loads, (run / "results.jsonl").read_text().splitlines()))
    assert set(asked) > {source for source, _ in PAIRS}


def test_an_endpoint_without_texts() -> None:
    options = {"request": {"text": "{text}"}, "answer": "translation", "batch": 1, "retries": 0}
    with (
        serving(lambda body, number: {"translation": None}) as server,
        pytest.raises(ValueError, match="expected answers"),
    ):
        attack(server.url, options=options)


def test_a_chat_that_translates() -> None:
    def script(body: Any, number: int) -> Any:
        assert body["max_tokens"] == 1024 and body["messages"][0]["content"].startswith("Translate: ")
        text = by_words([body["messages"][0]["content"].removeprefix("Translate: ")])[0]
        return {"choices": [{"message": {"content": f"<think>hm</think>\n{text}"}, "finish_reason": "stop"}]}

    with serving(script) as server:
        result = attack(f"chat:{server.url}/v1#tiny", options={"prompt": "Translate: {text}"}, search="best-of(n=8)")
        with pytest.raises(ValueError, match="expected a prompt that says what to write"):
            attack(f"chat:{server.url}/v1#tiny")
    assert result.summary["tradeoff"]["before"]["value"] == 1 and result.success > 0


def test_a_hugging_face_model() -> None:
    pytest.importorskip("transformers")
    from victims.writers import SENTENCES, writer

    victim = writer("marian")
    result = attack(victim, SENTENCES[:3], goal="decrease(against='output')", search="unk")
    assert result.summary["tradeoff"]["of"] == 3
    for line in result.lines:
        if line["adversarial"]:
            assert victim([line["adversarial"]["texts"][0]]).answers[0] == line["adversarial"]["answer"]


def test_searches_that_need_gradients_of_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="expected a search without gradients for texts, got gradient: --search"):
        attack(search="gradient")


def test_pages_and_tables_show_both_outputs(tmp_path: Path) -> None:
    attack(output=tmp_path / "run")
    html = (tmp_path / "run" / "report.html").read_text()
    page = Page(html)
    assert "output before, 100.0:" in html and "output after, " in html and "reference:" in html
    assert "relative decrease of chrF" in html and "accuracy" not in html
    assert page is not None
    before = (tmp_path / "run" / "summary.json").read_bytes()
    assert main(["report", str(tmp_path / "run")]) == 0 and (tmp_path / "run" / "summary.json").read_bytes() == before
    pq = pytest.importorskip("pyarrow.parquet")
    assert main(["report", str(tmp_path / "run"), "--parquet", str(tmp_path / "all.parquet")]) == 0
    table = pq.read_table(tmp_path / "all.parquet").to_pydict()
    lines = [json.loads(line) for line in (tmp_path / "run" / "results.jsonl").read_text().splitlines()]
    names = {"source_likeness": "source", "score_before": "before", "score_after": "after",
             "relative_decrease": "decrease", "tradeoff": "success"}  # fmt: skip
    for column, half in names.items():
        assert table[column] == [line["tradeoff"][half] for line in lines]
    assert table["adversarial_answer"] == [line["adversarial"]["answer"] for line in lines]
