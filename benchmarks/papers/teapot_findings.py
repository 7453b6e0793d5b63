"""What TEAPOT's paper found, and whether it is so in our runs: differences on the same sentences, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from teapot import CONSTRAINTS, LANGUAGES, RANDOM, STEPS, TRAININGS, no_sign, strong, title

from scuff.metrics.interval import percentile_interval, resamples
from scuff.text.ragged import Floats

Estimate = tuple[float, float, float]  # value, and the ends of its interval
Verdict = Callable[[Estimate], str]
YES, NO, OPEN = "yes", "**no**", "not decided"
DECREASE, SOURCE, SUCCESS, TEST, LEFT = "RDchrF", "source chrF", "S", "test chrF", "chrF under attack"
AIM = 1.5  # times the decrease of the paper's search, at equal source chrF
ALIKE = 2.0  # points of RDchrF that count as similar
LOSS = 0.5  # points of test chrF that may be lost
MODELS = ("lstm-words", "lstm-bpe", "transformer-words", "transformer-bpe")
BASE = MODELS[0]


def above(limit: float) -> Verdict:
    return lambda found: YES if found[1] > limit else NO if found[2] < limit else OPEN


def below(limit: float) -> Verdict:
    return lambda found: YES if found[2] < limit else NO if found[1] > limit else OPEN


@dataclass(frozen=True)
class Row:
    """An attack on a model; a model's name is without its language. attack "": the model's test score."""

    model: str
    attack: str = ""


@dataclass(frozen=True)
class Finding:
    """A sentence of the paper about one row or two. kind: of what the difference is. where: its section or table; "": our own."""

    says: str
    where: str
    kind: str
    one: Row
    other: Row | None
    holds: Verdict

    @property
    def key(self) -> str:
        rows = [f"{row.model} {row.attack}".strip() for row in (self.one, self.other) if row]
        return f"{self.kind}: {' - '.join(rows)}"


def adversarial(within: str, alpha: float) -> str:
    """The name of an adversarially trained model."""
    return f"{BASE}-{within}-{alpha}"


def _findings() -> list[Finding]:
    """All findings, in the paper's order."""
    made = []
    for name in ("kNN", "CharSwap"):
        made += [
            Finding(f"{name} raises source chrF: {title(model)}", "4.3", SOURCE, Row(model, name),
                    Row(model, "Unconstrained"), above(0))
            for model in MODELS
        ]  # fmt: skip
    made += [
        Finding(f"kNN lowers RDchrF: {title(model)}", "Table 2", DECREASE, Row(model, "kNN"), Row(model, "Unconstrained"),
                below(0))
        for model in MODELS
    ]  # fmt: skip
    for name, holds, says in (
        ("CharSwap", above(1), "CharSwap has mean S > 1"),
        ("kNN", below(1), "kNN is below 1"),
        ("Unconstrained", below(1), "Unconstrained is below 1"),
    ):
        made += [Finding(f"{says}: {title(model)}", "4.3", SUCCESS, Row(model, name), None, holds) for model in MODELS]
    for kind in ("lstm", "transformer"):
        made.append(
            Finding(f"CharSwap has a higher RDchrF on words than on subwords: {title(kind)}", "4.3", DECREASE,
                    Row(f"{kind}-words", "CharSwap"), Row(f"{kind}-bpe", "CharSwap"), above(0))
        )  # fmt: skip
    for pieces in ("words", "bpe"):
        made.append(
            Finding(f"kNN has a higher RDchrF on the Transformer than on the LSTM: {title(pieces)}", "4.3", DECREASE,
                    Row(f"transformer-{pieces}", "kNN"), Row(f"lstm-{pieces}", "kNN"), above(0))
        )  # fmt: skip
    for name in CONSTRAINTS:
        made.append(
            Finding(f"the sign of the gradient helps: {name}, {title(BASE)}", "3.1.1", DECREASE, Row(BASE, name),
                    Row(BASE, no_sign(name)), above(0))
        )  # fmt: skip
    return [*made, *_of_training(), *_of_search()]


def _of_training() -> list[Finding]:
    made = [
        Finding("Unconstrained-adv with alpha 1.0 loses test chrF", "5.2", TEST, Row(adversarial("vocabulary", 1.0)),
                Row(BASE), below(0)),
        Finding("and more than with alpha 0.5", "5.2", TEST, Row(adversarial("vocabulary", 1.0)),
                Row(adversarial("vocabulary", 0.5)), below(0)),
    ]  # fmt: skip
    for alpha in (1.0, 0.5):
        made.append(
            Finding(f"CharSwap-adv with alpha {alpha} keeps test chrF (loses at most {LOSS})", "5.2", TEST,
                    Row(adversarial("swaps", alpha)), Row(BASE), above(-LOSS))
        )  # fmt: skip
    for alpha in (1.0, 0.5):
        made.append(
            Finding(f"CharSwap-adv with alpha {alpha} lowers RDchrF of CharSwap", "5.2", DECREASE,
                    Row(adversarial("swaps", alpha), "CharSwap"), Row(BASE, "CharSwap"), below(0))
        )  # fmt: skip
    made.append(
        Finding("alpha 1.0 lowers it more", "5.2", DECREASE, Row(adversarial("swaps", 1.0), "CharSwap"),
                Row(adversarial("swaps", 0.5), "CharSwap"), below(0))
    )  # fmt: skip
    for alpha in (1.0, 0.5):
        made.append(
            Finding(f"Unconstrained-adv with alpha {alpha} is similarly or more vulnerable (at most {ALIKE:.0f} points less)",
                    "5.2", DECREASE, Row(adversarial("vocabulary", alpha), "CharSwap"), Row(BASE, "CharSwap"), above(-ALIKE))
        )  # fmt: skip
    return made


def _of_search() -> list[Finding]:
    made = [
        Finding(f"CharSwap-adv with alpha {alpha} raises chrF under CharSwap", "", LEFT,
                Row(adversarial("swaps", alpha), "CharSwap"), Row(BASE, "CharSwap"), above(0))
        for alpha in (1.0, 0.5)
    ]  # fmt: skip
    for name, by in (("CharSwap", "by the sign of the gradient"), (no_sign("CharSwap"), "by the gradient itself")):
        made += [
            Finding(f"CharSwap {by} harms more than at random places: {title(model)}", "", DECREASE, Row(model, name),
                    Row(model, RANDOM), above(0))
            for model in MODELS
        ]  # fmt: skip
    return made


FINDINGS = tuple(_findings())


# ---- comparing rows, sentence by sentence ----


def comparisons(language: str, models: dict[str, Any], attacks: dict[str, dict[str, Any]]) -> dict[str, list[float]]:
    """Value and interval of each finding of a language whose rows are there. models, attacks: what the runs left."""
    out: dict[str, list[float]] = {}
    for finding in FINDINGS:
        if finding.kind == TEST:
            found = _test(*(models.get(f"{language}-{row.model}") for row in (finding.one, finding.other) if row))
        else:
            rows = [finding.one, *([finding.other] if finding.other else [])]
            found = _mean(finding.kind, *(attacks.get(f"{language}-{row.model}", {}).get(row.attack) for row in rows))
        if found:
            out[finding.key] = [round(float(value), 4) for value in found]
    return out


def estimate(values: Floats) -> Estimate:
    """The first value, and the interval of the others, which are resampled."""
    low, high = percentile_interval(values[1:])
    return float(values[0]), min(low, float(values[0])), max(high, float(values[0]))


@lru_cache
def drawn(count: int) -> Floats:
    """How often each of so many sentences counts: once, then in every resample."""
    return np.concatenate([np.ones((1, count)), resamples(count, 0)]).astype(np.float64)


def decrease(row: dict[str, Any]) -> Floats:
    """Eq. 1 of each sentence, by the package's own function."""
    from scuff.metrics.tradeoff import relative_decrease

    return np.asarray(relative_decrease(np.array(row["base"]), np.array(row["attacked"])), np.float64)


def of_kind(kind: str, row: dict[str, Any]) -> Floats:
    """A value of each sentence: RDchrF and source chrF in points, S as it is."""
    source = np.array(row["source"], np.float64)
    if kind == SUCCESS:
        return source + decrease(row)
    if kind == LEFT:
        return 100 * np.array(row["attacked"], np.float64)
    return 100 * (source if kind == SOURCE else decrease(row))


def _mean(kind: str, *rows: dict[str, Any] | None) -> Estimate | None:
    """The mean of a row, or of the difference of two on the sentences that both have."""
    known = [row for row in rows if row]
    if len(known) < len(rows):
        return None
    values = [dict(zip(row["id"], of_kind(kind, row), strict=True)) for row in known]
    both = [name for name in values[0] if all(name in other for other in values)]
    found = np.array([values[0][name] - (values[1][name] if len(values) > 1 else 0) for name in both])
    return estimate(drawn(len(both)) @ found / len(both))


def corpus_chrf(sums: Floats) -> Floats:
    """Corpus chrF of summed statistics [..., 18]: of each order n-grams of the output, of the reference, and common ones."""
    mine, wanted, common = (sums[..., at::3] for at in range(3))
    both = (mine > 0) & (wanted > 0)
    orders = np.maximum(both.sum(-1), 1)
    precision = np.where(both, common / np.maximum(mine, 1), 0).sum(-1) / orders
    recall = np.where(both, common / np.maximum(wanted, 1), 0).sum(-1) / orders
    return np.asarray(100 * 5 * precision * recall / np.maximum(4 * precision + recall, 1e-16))


def corpus_bleu(sums: Floats) -> Floats:
    """Corpus BLEU of summed statistics [..., 10]: lengths of output and reference, matches and n-grams of four orders."""
    length, wanted, match, total = sums[..., 0], sums[..., 1], sums[..., 2:6], sums[..., 6:10]
    shares = np.where(match > 0, match / np.maximum(total, 1), 1e-16)
    short = np.exp(np.minimum(0, 1 - wanted / np.maximum(length, 1)))
    return np.asarray(100 * short * np.exp(np.log(shares).mean(-1)))


def test_score(model: dict[str, Any], metric: str) -> Floats:
    """A model's score on the test part, and the same in every resample. metric: "chrf" or "bleu"."""
    rows = np.array(model["test"][metric], np.float64)
    return (corpus_chrf if metric == "chrf" else corpus_bleu)(drawn(len(rows)) @ rows)


def _test(*models: dict[str, Any] | None) -> Estimate | None:
    one, other = (*models, None)[:2]
    return estimate(test_score(one, "chrf") - test_score(other, "chrf")) if one and other else None


def curve(attacks: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The stronger search with 1, 2, ... substitutions, as far as it was run."""
    return [attacks[strong(name, n)] for n in STEPS if strong(name, n) in attacks]


def at_equal_source(attacks: dict[str, Any], name: str) -> tuple[Floats, Floats] | None:
    """RDchrF of the paper's search and of the stronger one at the same source chrF, resampled.

    The stronger one's is read from the line through its means with 0, 1, 2, ... substitutions. Where even its most substitutions
    leave more of the source, they are taken as they are, which is in favour of the paper's.
    """
    steps = curve(attacks, name)
    if name not in attacks or not steps or any(row["id"] != attacks[name]["id"] for row in steps):
        return None
    draws = drawn(len(attacks[name]["id"]))
    weight = draws / draws.sum(1, keepdims=True)
    source, harm = (weight @ of_kind(kind, attacks[name]) for kind in (SOURCE, DECREASE))
    sources = np.stack([np.full(len(weight), 100.0), *(weight @ of_kind(SOURCE, row) for row in steps)])
    harms = np.stack([np.zeros(len(weight)), *(weight @ of_kind(DECREASE, row) for row in steps)])
    order = np.argsort(sources, 0)  # np.interp needs them rising
    sources, harms = np.take_along_axis(sources, order, 0), np.take_along_axis(harms, order, 0)
    return harm, np.array([np.interp(source[at], sources[:, at], harms[:, at]) for at in range(len(weight))])


# ---- the table ----


def findings(evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """The lines of the table of findings: a column for each language pair, with our value, its interval and the paper's."""
    pairs = [f"{language}-en" for language in LANGUAGES if language in evidence["compared"]]
    lines = [f"| the paper | in | {' | '.join(pairs)} |", "|---|---|" + "---|" * len(pairs)]
    for finding in FINDINGS:
        cells = [_cell(finding, evidence["compared"][pair[:2]], figures, pair) for pair in pairs]
        lines += [f"| {finding.says} | {finding.where or 'ours'} | {' | '.join(cells)} |"] if any(cells) else []
    return lines


ABOUT = {"4.3": "on attacks", "Table 2": "on attacks", "3.1.1": "on the sign", "5.2": "on training", "": "our own"}


def counted(evidence: dict[str, Any]) -> dict[str, list[int]]:
    """How many findings hold, do not, and are not decided, by what they are about; each language pair counts."""
    out = {about: [0, 0, 0] for about in ABOUT.values()}
    for compared in evidence["compared"].values():
        for finding in FINDINGS:
            if found := compared.get(finding.key):
                value, low, high = found
                out[ABOUT[finding.where]][(YES, NO, OPEN).index(finding.holds((value, low, high)))] += 1
    return out


def _cell(finding: Finding, compared: dict[str, list[float]], figures: dict[str, Any], pair: str) -> str:
    found = compared.get(finding.key)
    if found is None:
        return ""
    value, low, high = found
    theirs = [_paper(figures, finding.kind, row, pair) for row in (finding.one, finding.other) if row]
    verdict = finding.holds((value, low, high))
    if finding.kind == SUCCESS:
        return f"{verdict}: {value:.2f} [{low:.2f}, {high:.2f}] ({theirs[0]:.2f})"
    known = [each for each in theirs if each is not None]
    paper = f" ({known[0] - known[1]:+.1f})" if len(known) == 2 else ""
    return f"{verdict}: {value:+.1f} [{low:+.1f}, {high:+.1f}]{paper}"


def _paper(figures: dict[str, Any], kind: str, row: Row, pair: str) -> float | None:
    """The paper's value of a row; None where it has none."""
    trained = TRAININGS.get(row.model.removeprefix(f"{BASE}-")) if row.model != BASE else "Base"
    if kind == LEFT:
        return None
    if kind == TEST:
        return float(figures["Table 5"]["rows"][trained][pair][0])
    if trained and trained != "Base":
        return float(figures["Table 6"]["rows"][trained][pair])
    found = figures["Table 2"]["rows"][title(row.model)][pair].get(row.attack)
    if found is None:
        return None
    return float({SOURCE: found[1], DECREASE: found[0], SUCCESS: (found[0] + found[1]) / 100}[kind])
