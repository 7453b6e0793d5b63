"""Texts longer than the victim reads: the same outcomes with fewer queries, in attacks and by scores in evaluations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from attacks.attacked import LETTERS, attacked, outcome, recipe
from attacks.test_engine import judged
from scuff.data.dataset import Column as Texts
from scuff.data.toy import toy_data
from scuff.evaluation.guided import Oracle
from scuff.perturbations.names import parse
from scuff.victims.base import Access, Column, Outputs, Victim
from scuff.victims.toy import Toy

READS = 12
WORDS = " ".join(toy_data("sentiment", "test")[0][:80]).split()


class Reader(Victim):
    """The toy, which is given no more than the first words of a text."""

    name, task, labels, access, rows_at_once = "reader", "single", Toy("sentiment").labels, Access.SCORE, 512

    def __init__(self) -> None:
        self.toy, self.asked, self.longest = Toy("sentiment"), 0, 0

    def __call__(self, *columns: Column) -> Outputs:
        self.asked += len(columns[0])
        self.longest = max(self.longest, *(len(str(text)) for text in columns[0]))
        return self.toy([" ".join(str(text).split(" ")[:READS]) for text in columns[0]])


def texts_of(*counts: int) -> list[str]:
    return [" ".join(WORDS[at : at + count]) for at, count in enumerate(counts)]


@pytest.mark.parametrize("search", ["unk", "delete", "weighted-saliency", "head-tail", "greedy", "beam(width=2)"])
def test_outcomes_are_those_of_whole_texts(search: str) -> None:
    read = [" ".join(text.split(" ")[:READS]) for text in texts_of(40, 8, 60, 33, 25)]
    data, short = judged(texts_of(40, 8, 60, 33, 25)), judged(read)
    data = type(data)("data", "single", data.columns, short.targets, data.ids, data.fields)
    plan = recipe(search, "untargeted", [*LETTERS, "omit"], "changed(share=0.3)")
    whole = attacked(Reader(), data, plan)
    cut = attacked(Reader(), data, plan, reads=READS)
    assert [outcome(line)[:2] for line in cut] == [outcome(line)[:2] for line in whole]
    assert [outcome(line)[3] for line in cut] == [outcome(line)[3] for line in whole]
    assert all(a["queries"] <= b["queries"] for a, b in zip(cut, whole, strict=True))
    assert cut[1] == whole[1], "a text that is read to its end"
    assert {line["status"] for line in cut} >= {"succeeded"}


def test_what_is_asked_does_not_grow_with_the_text() -> None:
    asked = []
    for count in (100, 300):
        victim, text = Reader(), texts_of(count)[0]
        data = judged([" ".join(text.split(" ")[:READS])])
        data = type(data)("data", "single", ((text,),), data.targets, data.ids, data.fields)
        plan = recipe("unk", "untargeted", LETTERS, "changed(share=0.0, floor=1)")
        attacked(victim, data, plan, reads=READS)
        asked.append(victim.asked)
        assert victim.longest <= len(text)
    assert asked[0] == asked[1]


def test_gains_are_those_of_whole_texts() -> None:
    texts = texts_of(40, 8, 60)

    def oracle(reads: int | None) -> tuple[Oracle, Reader]:
        victim = Reader()
        columns: Any = [Texts.of(texts)]
        return Oracle(columns, (0,), victim, lambda out, rows: out.answers[:, 1], reads=reads), victim

    (whole, one), (cut, other) = oracle(None), oracle(READS)
    assert (whole.importance("score", 0) == cut.importance("score", 0)).all()
    assert other.asked < one.asked / 2
    for spec in ("typo", "segment", "omit"):
        given: Any = {"seed": 1, "degree": 0.3, "protect": None}
        pools = [each.pools(parse(spec), "score", 3, **given)[0] for each in (whole, cut)]
        assert pools[0] is not None and pools[1] is not None
        assert np.array_equal(pools[0].gain, pools[1].gain) and np.array_equal(pools[0].importance, pools[1].importance)
