"""Substitution through `scuff.attack`: models in folders, toys, and what cannot be attacked so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import scuff
from attacks.attacked import data_of
from scuff.cli.main import main
from scuff.victims.base import NotEnoughAccess
from scuff.victims.substitution import is_mark


def attack(model: Any, data: Any, output: Path, search: str, recipe: str = "teapot", **settings: Any) -> Any:
    return scuff.attack(model, data, recipe, output, search=search, encoder="chrf", **settings)


def lines(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (output / "results.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.slow
def test_the_stronger_search_is_stronger_at_equal_source_chrf(tmp_path: Path) -> None:
    """On the toy, which is easily misled; the paper's greedy search on trained models: docs/results/teapot.md."""
    for within in ("swaps", "vocabulary"):
        greedy, strong = (
            attack("toy:translate", "toy:translate", tmp_path / f"{within}{at}", search, examples=30).summary[
                "tradeoff"
            ]
            for at, search in enumerate((f"substitution({within=})", f"substitution({within=}, beam=3, verify=10)"))
        )
        assert strong["source"]["value"] > greedy["source"]["value"] - 0.01
        assert strong["decrease"]["value"] > 1.3 * greedy["decrease"]["value"] > 0.3


@pytest.mark.parametrize("kind", ["marian", "bart", "t5"])
def test_hugging_face_models_in_folders(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from victims.writers import SENTENCES, writer

    victim = writer(kind)
    if kind == "t5":  # with random weights it writes nothing
        victim.model.generation_config.suppress_tokens = victim.tokenizer.all_special_ids
    victim.model.save_pretrained(tmp_path / "model")
    victim.tokenizer.save_pretrained(tmp_path / "model")
    texts = [
        *SENTENCES[:5],
        "cat",
        "😀 dogs שלום",
        "the " * 100,
        "the small dog sees a cat?",
        "two men. a cat, (a dog)...",
    ]
    pairs = [(text, f"eine Frau {text}") for text in texts]
    (tmp_path / "data.jsonl").write_text(
        "\n".join(json.dumps({"text": a, "target": b}) for a, b in pairs), encoding="utf-8"
    )
    once = []
    for at, settings in enumerate(({}, {"max_queries": 40})):
        run = tmp_path / f"run{at}"
        attack(
            str(tmp_path / "model"), tmp_path / "data.jsonl", run, "substitution(n=2)", goal="decrease(against='output')",
            task="text", options={"max_new_tokens": 6}, **settings,
        )  # fmt: skip
        once.append((run / "results.jsonl").read_text(encoding="utf-8"))
        attacked = [line for line in lines(run) if line["status"] in ("failed", "succeeded")]
        assert len(attacked) > 5 and all(line["queries"] == 4 for line in attacked)
        for line in attacked:
            for _, start, stop, new in line["adversarial"]["edits"]:  # words for words, marks for marks
                assert is_mark(new) == is_mark(line["texts"][0][start:stop])
            assert 1 <= len(line["adversarial"]["edits"]) <= 2 and "<" not in line["adversarial"]["texts"][0]
    assert once[0] == once[1] and lines(tmp_path / "run0")


def test_marks_that_continue_words_give_way_to_marks(tmp_path: Path) -> None:
    """In byte-level vocabularies a full stop continues the word before it: no word may take its place."""
    pytest.importorskip("torch")
    from victims.writers import writer

    victim = writer("bart")
    vocabulary = victim.vocabulary()
    place = vocabulary.surfaces.index("?")
    assert not vocabulary.begins[place] and vocabulary.kinds[place] == 2 and not vocabulary.kinds[vocabulary.unknown]
    texts = [(f"a {word}?", f"eine Frau {word}") for word in ("dog", "cat", "man", "book", "train", "child")]
    attack(victim, texts, tmp_path / "run", "substitution(n=3)", goal="decrease(against='output')", task="text")
    edits = [(line["texts"][0][a:b], new) for line in lines(tmp_path / "run") if line["adversarial"]
             for _, a, b, new in line["adversarial"]["edits"]]  # fmt: skip
    assert any(old == "?" for old, _ in edits) and all(is_mark(old) == is_mark(new) for old, new in edits)


def test_hotflip_on_a_classifier(tmp_path: Path) -> None:
    torch, hf = pytest.importorskip("torch"), pytest.importorskip("transformers")
    from victims.small import TINY, save_tokenizer

    torch.manual_seed(2)
    folder = tmp_path / "model"
    size = save_tokenizer(folder)
    names = {0: "bad", 1: "good"}
    config = hf.BertConfig(vocab_size=size, id2label=names, label2id={"bad": 0, "good": 1}, pad_token_id=0, **TINY)
    hf.BertForSequenceClassification(config).save_pretrained(folder)
    data = [(text, label) for text in ("the cat sat on a mat", "not a good film", "dog") for label in ("good", "bad")]
    attack(str(folder), data, tmp_path / "run", "substitution(n=2, sign=False, beam=3, verify=5)", "hotflip",
           without=["word-vectors", "pos", "stop-words"])  # fmt: skip
    found = lines(tmp_path / "run")
    assert {line["status"] for line in found} >= {"skipped", "succeeded"}
    for line in found:
        if line["adversarial"]:
            assert len(line["adversarial"]["edits"]) <= 2 and "[" not in line["adversarial"]["texts"][0]
    pairs = data_of(["the cat", "a dog"], ["good", "bad"], "single", ["a mat", "it sat"])
    with pytest.raises(ValueError, match="expected data with one text for the search substitution, got pairs of texts"):
        attack(str(folder), pairs, tmp_path / "pairs", "substitution", "hotflip", without=["word-vectors", "pos"])


def test_three_queries_pay_for_a_substitution_and_its_try(tmp_path: Path) -> None:
    won = []
    for most in (2, 3, 4, 5):
        made = attack(
            "toy:translate", "toy:translate", tmp_path / str(most), "substitution", examples=20, max_queries=most
        )
        won.append(sum(bool(line["adversarial"]) for line in lines(tmp_path / str(most))))
        assert made.summary["tradeoff"]["of"] >= won[-1]
    assert won[0] == 0 and min(won[1:]) > 10


def test_what_cannot_be_attacked_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    search = "substitution(within='swaps')"
    with pytest.raises(
        NotEnoughAccess, match="expected a model with gradient access for the search substitution, got toy:se"
    ):
        attack("toy:sentiment", "toy:sentiment", run, search, "deepwordbug", goal="untargeted")
    with pytest.raises(NotEnoughAccess, match="which has decision access: --search unk, delete or beam"):
        attack(lambda texts: texts, [("a", "b"), ("c", "d")], run, search, task="text")
    with pytest.raises(ValueError, match="expected no perturbations for the search substitution, got typo"):
        attack("toy:translate", "toy:translate", run, search, perturbations=["typo"])
    with pytest.raises(ValueError, match=r"expected perturbations \(-p\) for the search beam of teapot, got none"):
        attack("toy:translate", "toy:translate", run, "beam")
    with pytest.raises(ValueError, match=r"expected data with .* for the goal decrease, got"):
        attack("toy:sentiment", "toy:sentiment", run, search)
    with pytest.raises(ValueError, match="expected 2 or more for max_queries with the search substitution, got 1"):
        attack("toy:translate", "toy:translate", run, search, max_queries=1)


@pytest.mark.parametrize(
    ("within", "changes"),
    [("vocabulary", "pieces into any other"), ("neighbours", "one of their 7 nearest"), ("swaps", "letters of words")],
)
def test_the_pre_flight_says_what_changes(
    within: str, changes: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = f"substitution(within={within!r}, nearest=7)"
    args = ["toy:translate", "toy:translate", "--recipe", "teapot", "--search", spec, "--examples", "2"]
    assert main(["attack", *args, "--encoder", "chrf", "-o", str(tmp_path / "run")]) == 0
    (line,) = [line.strip() for line in capsys.readouterr().err.splitlines() if line.strip().startswith("changes")]
    assert changes in line


def test_the_report_names_the_threshold(tmp_path: Path) -> None:
    goal = "decrease(metric='exact-match')"
    made = attack("toy:translate", "toy:translate", tmp_path / "run", "substitution", goal=goal, examples=3)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert made.summary["tradeoff"]["threshold"] == 1.8
    assert "above 180: the attack succeeded" in str(made) and "succeeds above 180" in page


def test_as_published_is_the_papers_search(tmp_path: Path) -> None:
    attack("toy:translate", "toy:translate", tmp_path / "run", "", examples=5, as_published=True)
    run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert "as published: 3.1 and 3.2" in run["recipe"]["paper"] and run["recipe"]["search"].startswith(
        "substitution(within='swaps'"
    )
