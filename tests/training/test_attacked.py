"""Adversarial examples of training data: they fool the model, keep their labels, are exactly as many as wanted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.attacks.attack import Attack
from scuff.data.dataset import Dataset
from scuff.data.reading import read_dataset
from scuff.data.toy import toy_dataset
from scuff.runs.folder import BadRun, Folder
from scuff.training.attacked import (
    AdversarialExamples,
    adversarial_examples,
    attacked_feed,
)
from scuff.training.feeds import Clean
from scuff.training.walks import LEAST, MOST, Harvest, Walk
from scuff.victims.query import Query
from scuff.victims.toy import Toy

TOY, LETTERS = "toy:sentiment", "deepwordbug"
ALIKE = Attack.of("look-alikes", "none", "untargeted", ["3*homoglyph"], "delete", ["stop-words"])
CHEAP: dict[str, Any] = {"encoder": "chrf"}  # measures the meaning of successes; needs no network


def reviews(count: int, first: int = 0) -> Dataset:
    return toy_dataset(TOY, "train").take(range(first, first + count))


def found(data: Dataset, recipes: Any = LETTERS, **settings: Any) -> AdversarialExamples:
    return adversarial_examples(TOY, data, recipes, **{**CHEAP, "gamma": 0.25, **settings})


def test_they_fool_the_model_and_keep_their_labels() -> None:
    data = reviews(60)
    made = found(data, [LETTERS, ALIKE])
    assert Counter(made.recipes) == {LETTERS: 15, "look-alikes": 15}, "exactly as many of each recipe"
    row = {name: at for at, name in enumerate(data.ids)}
    originals = data.take(np.array([row[source] for source in made.sources]))
    assert made.data.targets == originals.targets and made.data.known == data.labels
    victim = Toy("sentiment")
    for texts, right in ((originals, True), (made.data, False)):
        said = Query(victim)(*texts.columns).answers.argmax(1)
        assert [victim.labels[at] == label for at, label in zip(said, texts.targets, strict=True)] == [right] * 30
    texts = made.data.columns[0]
    assert len(set(texts)) == 30 and not set(texts) & set(data.columns[0])
    assert (
        len(set(made.data.ids)) == 30
        and made.counts["look-alikes"]["found"] == 15
        and not made.counts["look-alikes"]["dry"]
    )
    assert all(counts["looked"] >= counts["attacked"] >= counts["succeeded"] >= 15 for counts in made.counts.values())


def test_same_seed_same_bytes_and_recipes_do_not_disturb_each_other(tmp_path: Path) -> None:
    data = reviews(40)
    both = found(data, [LETTERS, ALIKE])
    both.write(tmp_path / "one.jsonl")
    found(data, [LETTERS, ALIKE]).write(tmp_path / "two.jsonl")
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert found(data, LETTERS, seed=1).digest != found(data, LETTERS).digest
    alone = found(data, ALIKE)  # as if the other were left out
    assert alone.data.columns[0] == both.data.columns[0][10:] and alone.sources == both.sources[10:]
    assert alone.sources != both.sources[:10], "each recipe has its own way through the data"
    lines = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (
        lines[0].keys() == {"id", "text", "label", "recipe", "round", "source"} and lines[-1]["recipe"] == "look-alikes"
    )
    again = read_dataset(tmp_path / "one.jsonl")
    assert (again.columns, again.targets) == (both.data.columns, both.data.targets), "labelled data as any other"


class Killed(BaseException):
    pass


def test_killed_and_resumed_ends_with_the_same_bytes(tmp_path: Path) -> None:
    data, seen = reviews(90), list[Harvest]()
    whole = found(data, [LETTERS, ALIKE], gamma=0.4, output=tmp_path / "whole", show=seen.append)
    assert seen[-1].found == 36 and seen[-1].number == 2 and seen[-1].left == 0
    assert "36 of 36 adversarial examples" in str(seen[-1]) and "(2 of 2)" in str(seen[-1])
    parts = sorted(path.parent.relative_to(tmp_path / "whole") for path in (tmp_path / "whole").rglob("run.json"))
    assert len(parts) >= 4, "several parts of each walk"

    def kill(harvest: Harvest) -> None:
        if harvest.number == 2 and harvest.found > 20:
            raise Killed

    with pytest.raises(Killed):
        found(data, [LETTERS, ALIKE], gamma=0.4, output=tmp_path / "killed", show=kill)
    done = [part for part in parts if (tmp_path / "killed" / part / "summary.json").is_file()]
    assert 0 < len(done) < len(parts)
    trials = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("*.npz")}
    assert found(data, [LETTERS, ALIKE], gamma=0.4, output=tmp_path / "killed").lines() == whole.lines()
    assert all(path.stat().st_mtime_ns == then for path, then in trials.items()), "what was done is not done again"
    for part in parts:
        one, other = (tmp_path / name / part / "results.jsonl" for name in ("whole", "killed"))
        assert one.read_bytes() == other.read_bytes()
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("*.npz")}
    alone = found(data, ALIKE, gamma=0.4, output=tmp_path / "killed")  # leaves the other recipe out
    assert alone.lines() == [line for line in whole.lines() if line["recipe"] == "look-alikes"]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "killed").rglob("*.npz")} == times, "nothing new"


def test_a_recipe_that_runs_dry_says_so() -> None:
    data, told = reviews(40), list[str]()
    hard = Attack.of("hard", "none", "untargeted", ["typo"], "delete", ["stop-words", "changed(share=0.01, floor=1)"])
    made = found(data, [hard, LETTERS], gamma=0.5, say=told.append)
    few = made.counts["hard"]["found"]
    assert 0 < few < 20 and made.counts["hard"]["dry"] and made.counts["hard"]["looked"] == 40
    assert Counter(made.recipes) == {"hard": few, LETTERS: 20}
    assert f"WARNING hard ran dry: {few} of 20 adversarial examples" in told
    assert Counter(found(data, [hard, LETTERS], gamma=0.5, even=True).recipes) == {"hard": few, LETTERS: few}


def test_no_text_twice() -> None:
    data = reviews(40)
    twice = Dataset(data.name, data.task, (data.columns[0] * 2,), data.targets * 2, tuple(map(str, range(80))))
    made = found(twice, gamma=0.3)
    assert len(set(made.data.columns[0])) == 24 and made.counts[LETTERS]["duplicates"] > 0
    again = found(data, avoid=set(zip(*made.data.columns, strict=True)))
    assert not set(again.data.columns[0]) & set(made.data.columns[0])


@given(
    order=st.permutations(range(12)),
    tried=st.dictionaries(st.integers(0, 11), st.none() | st.sampled_from("abcdef")),
    taken=st.sets(st.sampled_from("abcdef")),
    most=st.integers(1, 8),
)
def test_a_walk_keeps_its_first_new_texts(
    order: list[int], tried: dict[int, str | None], taken: set[str], most: int
) -> None:
    walk = Walk("any", "any", "any", np.array(order), {row: (text,) if text else None for row, text in tried.items()})
    kept = walk.usable({(text,) for text in taken}, most)
    slow: list[tuple[int, tuple[str]]] = []
    for row in order:
        text = tried.get(row)
        if text and text not in taken and all(text != one[0] for _, one in slow) and len(slow) < most:
            slow.append((row, (text,)))
    assert kept == slow
    assert walk.untried.tolist() == [row for row in order if row not in tried]
    for found, wanted in ((0, most), (len(kept), most + len(kept))):
        assert LEAST <= walk.next_size(found, wanted) <= max(LEAST, wanted, MOST * len(tried))


def test_successes_of_earlier_runs_are_taken(tmp_path: Path) -> None:
    data = reviews(60)
    run = tmp_path / "run"
    result = scuff.attack(TOY, data.take(range(20)), LETTERS, run, **CHEAP)
    won = [line for line in Folder(run).attack_results() if line["status"] == "succeeded"]
    assert len(won) == result.summary["success"]["count"] > 5
    only = adversarial_examples(TOY, data, (), gamma=1, from_runs=[run], **CHEAP)
    assert {(s, t) for s, t in zip(only.sources, only.data.columns[0], strict=True)} == {
        (line["id"], line["adversarial"]["texts"][0]) for line in won if line["adversarial"]
    }
    asked = found(data).counts[LETTERS]["queries"]
    more = found(data, from_runs=[run])
    assert len(more) == 15 and more.counts[LETTERS]["no_longer"] == 0
    assert set(more.sources) & set(only.sources) and more.counts[LETTERS]["queries"] <= asked + 20 * 100
    with pytest.raises(BadRun, match=r"expected an attack on the data to train on, got 20 of 20 examples"):
        found(reviews(50, first=100), from_runs=[run])
    with pytest.raises(BadRun, match="expected an attack by look-alikes, got deepwordbug"):
        found(data, ALIKE, from_runs=[run])
    scuff.evaluate(TOY, TOY, tmp_path / "other", dimensions=["keyboard"], examples=4, cases=1, encoder="chrf")
    with pytest.raises(BadRun, match="expected a run of `scuff attack`"):
        found(data, from_runs=[tmp_path / "other"])


def test_successes_against_another_model_must_fool_this_one(tmp_path: Path) -> None:
    """The other model is right only about texts with a word that the attacks have left alone."""
    data = reviews(30)
    scuff.attack(TOY, data, LETTERS, tmp_path / "run", **CHEAP)
    won = {
        line["adversarial"]["texts"][0]: line["target"]
        for line in Folder(tmp_path / "run").attack_results()
        if line["status"] == "succeeded" and line["adversarial"]
    }
    known = dict(zip(data.columns[0], data.targets, strict=True)) | dict(list(won.items())[::2])

    def knows(texts: list[str]) -> list[str]:
        return [known.get(text, "negative" if won.get(text) == "positive" else "positive") for text in texts]

    made = adversarial_examples(
        knows, data, (), gamma=1, from_runs=[tmp_path / "run"], labels=["negative", "positive"], **CHEAP
    )
    assert set(made.data.columns[0]) == set(list(won)[1::2])
    assert made.counts[LETTERS]["no_longer"] == len(won) - len(made) > 0


def test_label_sets_are_attacked_where_they_are_toxic() -> None:
    data = toy_dataset("toy:tone", "train").take(range(60))
    hidden = Attack.of("hidden", "none", "toxictrap", ["homoglyph"], "delete")
    made = adversarial_examples("toy:tone", data, hidden, gamma=0.1, **CHEAP)
    assert len(made) == 6 and all(made.data.targets), "texts without a toxic label are left alone"
    row = dict(zip(data.ids, data.targets, strict=True))
    assert [row[source] for source in made.sources] == list(made.data.targets)
    assert (Query(Toy("tone"))(*made.data.columns).answers < 0.5).all(), "no label is found any more: equation 3"


def overlap(first: list[str], second: list[str]) -> list[str]:
    return [("no", "yes")[bool(set(a.split()) & set(b.split()))] for a, b in zip(first, second, strict=True)]


def test_pairs_change_on_one_side() -> None:
    texts = [f"the {word} stands on a hill" for word in ("castle", "mill", "church", "tower", "palace", "temple")]
    first, second = [text for text in texts for _ in texts], ["my old " + text.split()[1] for text in texts * 6]
    columns, ids = (tuple(first), tuple(second)), tuple(map(str, range(36)))
    data = Dataset("pairs", "single", columns, tuple(overlap(first, second)), ids, ("premise", "hypothesis"))
    made = adversarial_examples(overlap, data, LETTERS, gamma=0.1, search="best-of", side="second", **CHEAP)
    assert len(made) == 4 and set(made.data.targets) == {"yes"} and made.data.fields == ("premise", "hypothesis")
    for premise, hypothesis, source in zip(*made.data.columns, made.sources, strict=True):
        assert premise == first[int(source)] and hypothesis != second[int(source)]
    assert set(overlap(*map(list, made.data.columns))) == {"no"}  # type: ignore[arg-type]


def capitals(sentences: list[tuple[str, ...]]) -> list[list[str]]:
    return [["name" if word in ("Anna", "Berlin", "Carl") else "other" for word in words] for words in sentences]


def test_tags_stay_with_their_tokens() -> None:
    rows = [(a, "met", b, "in", c) for a in ("Anna", "he") for b in ("Carl", "us") for c in ("Berlin", "Rome", "May")]
    data = Dataset("tags", "tokens", (tuple(rows),), tuple(map(tuple, capitals(rows))), tuple(map(str, range(12))))
    made = adversarial_examples(
        capitals, data, LETTERS, gamma=0.2, goal="tags(share=0.2)", search="best-of", labels=["name", "other"],
        without=["stop-words"], **CHEAP,
    )  # fmt: skip
    assert len(made) == 3 and all(isinstance(tokens, tuple) and len(tokens) == 5 for tokens in made.data.columns[0])
    assert [data.targets[int(source)] for source in made.sources] == list(made.data.targets)


def test_the_feed_has_both(tmp_path: Path) -> None:
    data = reviews(40)
    made = found(data)
    feed = attacked_feed(data, made)
    epoch = feed.epoch(3)
    assert (
        len(epoch) == 50 and epoch.columns[0][:40] == data.columns[0] and epoch.columns[0][40:] == made.data.columns[0]
    )
    assert epoch.labels == data.labels and feed.data is data and len(set(epoch.ids)) == 50
    assert feed.identity == attacked_feed(Clean(data), found(data)).identity
    assert feed.identity != attacked_feed(data, found(data, seed=1)).identity


@pytest.mark.parametrize(
    ("data", "recipes", "settings", "message"),
    [
        (reviews(9), (), {}, "expected recipes, or runs that have adversarial examples, got neither"),
        (reviews(9), LETTERS, {"gamma": 1.5}, "expected a number in .* for gamma, got 1.5"),
        (reviews(9), [LETTERS, LETTERS], {}, "expected each recipe once, got deepwordbug twice"),
        (reviews(9), "input-reduction", {}, "expected a goal that makes the model wrong, got reduction"),
        (reviews(9), [LETTERS, "deepwordbag"], {}, "did you mean deepwordbug"),
        (reviews(9), [LETTERS, "tt-deepwordbug"], {}, "expected the label that means benign"),
        (reviews(9), LETTERS, {"examples": 3}, "expected recipes and gamma to decide what is attacked, got examples"),
        (reviews(9), LETTERS, {"side": "second"}, "expected data with two texts for side second"),
        (toy_dataset("toy:translate", "train"), LETTERS, {}, "expected data with labels or tags .* got texts"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_attacked(
    data: Dataset, recipes: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        found(data, recipes, show=lambda harvest: pytest.fail("attacked"), **settings)
