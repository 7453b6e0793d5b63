"""Before a run: what the pre-flight asks of a victim that looks for its best batch size."""

from __future__ import annotations

import numpy as np
import pytest

from scuff.api import dry_run
from scuff.victims.base import Column, Outputs, Victim


class Unsettled(Victim):
    """Batches by tokens, of a size that is not known yet; remembers how many rows each call had."""

    name, task, labels, batch_tokens = "unsettled", "single", ("a", "b"), None

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, *columns: Column) -> Outputs:
        self.calls.append(len(columns[0]))
        return Outputs.of(np.zeros(len(columns[0]), np.int64))

    def settle(self) -> None:
        self.batch_tokens = 1000


@pytest.mark.parametrize(("cases", "tried"), [(19, False), (20, True)])
def test_a_batch_size_is_looked_for_if_that_takes_less_than_a_twentieth_of_the_queries(cases: int, tried: bool) -> None:
    """With the clean text, 20 cases are 21 queries per example; looking for the size asks each long text once more."""
    data = [(f"{word} " * 20_001, label) for word, label in (("tree", "a"), ("lake", "b"))]  # TUNING characters in all
    victim = Unsettled()
    dry_run(victim, data, dimensions=["truncate"], degrees=[0.5], cases=cases, say=lambda line: None)
    clean = len(victim.calls) - tried
    assert victim.batch_tokens == 1000 and victim.calls[clean:] == [2] * tried
    assert sum(victim.calls[:clean]) == 2 + 4, (
        "each text once, and again beside its perturbed form, to know the model by"
    )


def test_short_texts_are_repeated_until_they_fill_batches_of_every_size() -> None:
    victim = Unsettled()
    data = [("word " * 2_000 + str(at), "ab"[at % 2]) for at in range(4)]  # 40,004 characters
    dry_run(victim, data, dimensions=["truncate"], degrees=[0.5], cases=100, say=lambda line: None)
    assert victim.calls[-1] == 4 * 5


def test_a_score_that_guessing_reaches_is_warned_of() -> None:
    """One of four label sets is right, as it is where each of two labels is guessed."""
    said: list[str] = []
    data = [("one", ["x"]), ("two", ["y"]), ("three", ["x", "y"]), ("four", ["x"])]
    answers = {"one": ["x"]}
    dry_run(
        lambda texts: [answers.get(text, ["x", "y"] if text != "three" else []) for text in texts], data,
        dimensions=["keyboard"], degrees=[0.5], cases=1, task="multi", labels=["x", "y"], say=said.append,
    )  # fmt: skip
    assert any(line.startswith("clean   0.250") and line.endswith("guessing gives 0.250") for line in said)
    assert any(line.startswith("WARNING the clean score is no better than guessing (0.250)") for line in said)
