"""chrF and BLEU against sacrebleu, METEOR against nltk, and exact match, on any text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import scuff
import scuff.metrics.chrf as by_arrays
from scuff.english.morphy import bases, synset_words, synsets
from scuff.english.stemmer import stem
from scuff.metrics import METRICS, Chrf, Mean, Meteor, parse_metric, text_metric
from scuff.metrics.bleu import Bleu
from scuff.metrics.chrf import chrf
from scuff.specs import as_spec
from strategies import text

sacrebleu = pytest.importorskip("sacrebleu", reason="needs the extra scuff[translation]")

CHRF, BLEU = sacrebleu.CHRF(), sacrebleu.BLEU(effective_order=True)
few = st.text("ab \t\u3000é😀.", max_size=14)  # letters that occur again and again: many equal n-grams
pairs = st.lists(st.tuples(st.one_of(text, few), st.one_of(text, few)), min_size=1, max_size=8)
EDGES = [("", ""), ("a", ""), ("", "a"), (" \n\u2003", "a"), ("a", "a"), ("ab", "abcdef"), ("\x1c\x85a", "a")]
EDGES += [("aaaa", "aaaaaaaaa"), ("a b", "ab"), (".", "!")]


def objects(texts: list[str]) -> npt.NDArray[Any]:
    return np.array(texts, object)


@given(pairs)
@example(EDGES)
def test_chrf_is_sacrebleus_to_the_last_bit(given: list[tuple[str, str]]) -> None:
    found = chrf([out for out, _ in given], [ref for _, ref in given])
    assert found.tolist() == [CHRF.sentence_score(out, [ref]).score / 100 for out, ref in given]


@pytest.mark.parametrize("letters", [300, 1020, 3000, 60000])
def test_scripts_with_many_letters(letters: int) -> None:
    """Numbered for all pairs together, pair by pair, or, with more than a key can hold, counted one by one."""
    random = np.random.default_rng(letters)
    draw = lambda size: "".join(map(chr, random.integers(0x4E00, 0x4E00 + min(letters, 0x5000), size)))  # noqa: E731
    outputs = [draw(size) for size in (5, 40, 700, 0, 9000)]
    references = [one[: len(one) // 2] + draw(3) + one[len(one) // 2 :] for one in outputs]
    wanted = [
        CHRF.sentence_score(*pair).score / 100 for pair in zip(outputs, ([ref] for ref in references), strict=True)
    ]
    assert chrf(outputs, references).tolist() == wanted
    assert chrf(outputs[:2], references[:2]).tolist() == wanted[:2], "whatever else is asked"


def test_no_pair_depends_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    words = [" ".join(random.choice(["ab", "abc", "b", "ca"], size)) for size in random.integers(0, 30, 60)]
    other = [words[at] for at in random.permutation(60)]
    wanted = [chrf([one], [two])[0] for one, two in zip(words, other, strict=True)]
    for cells in (1, 300, 10_000):
        monkeypatch.setattr(by_arrays, "CELLS", cells)
        assert chrf(words, other).tolist() == wanted


def test_half_a_character_is_scored_not_refused() -> None:
    assert chrf(["ab\ud83d", "x"], ["ab", "x"]).tolist() == [CHRF.sentence_score("ab\ud83d", ["ab"]).score / 100, 1]


@given(pairs)
@example(EDGES)
def test_bleu_is_sacrebleus(given: list[tuple[str, str]]) -> None:
    outputs, references = [out for out, _ in given], [ref for _, ref in given]
    wanted = [BLEU.sentence_score(out, [ref]).score / 100 for out, ref in given]
    assert Bleu().values(objects(outputs), objects(references)) == pytest.approx(wanted, abs=1e-9)
    whole = BLEU.corpus_score(outputs, [references]).score / 100
    assert Bleu()(objects(outputs), objects(references)) == pytest.approx(whole, abs=1e-9), "the rows add up"


def test_bleu_of_long_texts_and_of_several_cases() -> None:
    random = np.random.default_rng(3)
    outputs, references = ([" ".join(random.choice(list("abcde"), 30)) for _ in range(40)] for _ in range(2))
    whole = BLEU.corpus_score(outputs, [references]).score / 100
    rows = Bleu().example_rows(objects(outputs), objects(references), (), np.arange(40) // 4, 10)
    assert rows.shape[0] == 10 and float(Bleu().score(rows.sum(0))) == pytest.approx(whole, abs=1e-9)


def test_signatures_are_sacrebleus() -> None:
    CHRF.sentence_score("a", ["a"])
    BLEU.sentence_score("a", ["a"])
    mine, theirs = Chrf().signature, str(CHRF.get_signature())
    assert mine.partition("|version:")[0] == theirs.partition("|version:")[0] and "|version:2." in mine
    assert Bleu().signature == str(BLEU.get_signature()) and "eff:yes|tok:13a|smooth:exp" in Bleu().signature


@given(pairs)
def test_exact_match_of_texts(given: list[tuple[str, str]]) -> None:
    outputs, references = (objects([pair[at] for pair in given]) for at in range(2))
    metric = parse_metric("exact-match")
    metric.check("text", (), scores=False)
    assert metric.values(outputs, references).tolist() == [float(one == two) for one, two in given]


# --- METEOR -----------------------------------------------------------------------------------------------------------

NLTK = json.loads((Path(__file__).parent / "nltk.json").read_text(encoding="utf-8"))


def meteor(output: str, reference: str, **options: Any) -> float:
    return float(Meteor(**options).values(objects([output]), objects([reference]))[0])


def test_stems_and_scores_are_nltks() -> None:
    """The file has the results of a real run of nltk."""
    assert {word: stem(word) for word in NLTK["stems"]} == NLTK["stems"]
    found = [meteor(output, reference, nltk=True) for output, reference, _ in NLTK["scores"]]
    assert found == pytest.approx([score for *_, score in NLTK["scores"]], abs=1e-12) and len(found) > 90


def test_meteor_by_hand() -> None:
    """Three of four words match, in two chunks."""
    recall, precision = 3 / 4, 3 / 5
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    assert meteor("one two x three y", "one two three four") == pytest.approx(mean * (1 - 0.5 * (2 / 3) ** 3))
    assert meteor("a", "") == meteor("", "a") == meteor("", "") == meteor("b", "c") == 0
    assert meteor("One, two!", "one , TWO !") == pytest.approx(1 - 0.5 / 4**3), "case and spaces do not count"


def test_stems_and_synonyms_match() -> None:
    same = meteor("x y z a", "x y z a")
    assert meteor("the dogs run", "the dog runs") == meteor("one two three", "one two three")
    assert meteor("he purchased cars", "he bought automobiles") == meteor("one two three", "one two three")
    assert meteor("he purchased cars", "he bought automobiles", nltk=True) < 0.5, (
        "purchas and bought, stems, are no words"
    )
    assert meteor("the dogs run", "the dog runs", english=False) < 0.2
    assert meteor("Hunde x y", "Hunde x y", english=False) == meteor("one two three", "one two three") < same
    assert (
        synset_words("mice") >= {"mouse", "mice"}
        and bases("geese", "n") == ["goose"]
        and "bike" in synset_words("cycles")
    )
    assert synsets("automobiles") & synsets("car") and not synsets("qwzx")


def test_meteors_options_and_signature() -> None:
    metric = parse_metric("meteor(alpha=0.5, english=False)")
    assert metric.spec == "meteor(alpha=0.5, english=False)"
    assert metric.signature.startswith(
        "nrefs:1|case:lc|tok:wordpunct|match:exact|alpha:0.5|beta:3|gamma:0.5|version:scuff."
    )
    assert (
        "match:exact+porter+wordnet3.0|" in Meteor().signature
        and "version:nltk.3.10+scuff" in Meteor(nltk=True).signature
    )
    with pytest.raises(ValueError, match=r"expected a number in \[0, 1\] for meteor.alpha, got 2"):
        parse_metric("meteor(alpha=2)")


@given(pairs)
def test_meteor_is_a_share(given: list[tuple[str, str]]) -> None:
    values = Meteor().values(objects([out for out, _ in given]), objects([ref for _, ref in given]))
    assert ((values >= 0) & (values <= 1)).all()


# --- as metrics of an evaluation ---------------------------------------------------------------------------------------

SENTENCE = "In the year {} the two of them came here from far away to see what was left of the old town."
DATA = [
    {"source": SENTENCE.format(at), "target": SENTENCE.format(at).lower().removesuffix(".").replace("here", "there")}
    for at in range(20)
]


def answer(texts: Any) -> list[str]:
    return [str(text).lower().removesuffix(".").replace("here", "there") for text in texts]


@pytest.mark.parametrize(("metric", "title"), [("bleu", "BLEU"), ("meteor", "METEOR"), ("exact-match", "exact match")])
def test_evaluations_by_text_metrics(metric: str, title: str) -> None:
    result = scuff.evaluate(answer, DATA, metric=metric, dimensions=["keyboard"], degrees=[0.3], cases=2)
    assert result.summary["metric"] == title and result.clean > 0.99
    assert 0 <= result.worst <= result.worst_alone <= result.average < 0.9
    low, high = result.summary["dimensions"]["keyboard"]["degrees"][0]["average"]["interval"]
    assert low is not None and high is not None and low < high


def test_a_users_function_by_its_spec(tmp_path: Path) -> None:
    file = tmp_path / "own_likeness.py"
    file.write_text("def half(text, reference):\n    return 0.5 if text == reference else 0.0\n")
    metric = parse_metric(f"{file}:half")
    assert metric.spec == f"{file}:half" and metric.values(objects(["a", "b"]), objects(["a", "c"])).tolist() == [
        0.5,
        0,
    ]
    result = scuff.evaluate(answer, DATA, metric=f"{file}:half", dimensions=["keyboard"], degrees=[0.3], cases=1)
    assert result.clean == 0.5 and result.average < 0.5


OWN = """
from scuff.metrics import Meteor

def one(text): ...
def three(text, reference, weight): ...
def part(text, reference, share=1.0): return share * (text == reference)
def raises(text, reference): raise ValueError("boom")
def made(english=True): return Meteor(english=english)

class Judge:
    def __call__(self, text, reference): return 0.25

judge = Judge()
"""


def test_what_a_users_function_may_be(tmp_path: Path) -> None:
    file = tmp_path / "own_functions.py"
    file.write_text(OWN)
    pair = objects(["a", "b"]), objects(["a", "c"])
    part, judge = parse_metric(f"{file}:part(share=0.5)"), parse_metric(f"{file}:judge")
    assert part.values(*pair).tolist() == [0.5, 0] and part.spec == f"{file}:part(share=0.5)"
    assert judge.values(*pair).tolist() == [0.25, 0.25] and judge.spec == f"{file}:judge"
    assert parse_metric(f"{file}:made(english=False)") == Meteor(english=False), (
        "a function of options alone returns a metric"
    )
    for name, got in (("one", "one(text)"), ("three", "three(text, reference, weight)")):
        with pytest.raises(ValueError, match=f"expected a function of two texts, .*, got .*:{re.escape(got)}"):
            parse_metric(f"{file}:{name}")
    assert parse_metric(f"{file}:three(weight=2)").spec == f"{file}:three(weight=2)"
    with pytest.raises(ValueError, match=r"expected share for .*, got 'shares'"):
        parse_metric(f"{file}:part(shares=2)")
    with pytest.raises(
        ValueError, match=r"from .*raises\(text, reference\), got ValueError: boom \(SCUFF_DEBUG=1 shows"
    ):
        parse_metric(f"{file}:raises").values(*pair)
    with pytest.raises(ValueError, match="expected a function of two texts"):
        text_metric(str.title)
    assert text_metric(lambda *texts: 0.75).values(*pair).tolist() == [0.75, 0.75]


def test_a_metric_whose_class_exists_here_only() -> None:
    @dataclass(frozen=True)
    class Half(Mean):
        def values(self, answers: Any, targets: Any, labels: Any = ()) -> Any:
            return np.full(len(answers), 0.5)

    assert parse_metric(as_spec(Half())) == Half(), "its spec cannot be imported"


@pytest.mark.parametrize("spec", ["zero-one", "zero_one", "exact_match", "exact-match"])
def test_the_names_of_exact_match(spec: str) -> None:
    assert parse_metric(spec) == text_metric(spec) == parse_metric("exact-match")
    result = scuff.evaluate(answer, DATA, metric=spec, dimensions=["keyboard"], degrees=[0.3], cases=1)
    assert result.summary["metric"] == "exact match"


def test_an_alias_is_suggested() -> None:
    with pytest.raises(ValueError, match="got 'Zero-One'; did you mean zero-one"):
        parse_metric("Zero-One")
    assert "zero-one" not in METRICS, "lists show each metric once"
