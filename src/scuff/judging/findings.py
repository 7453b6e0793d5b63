"""Every number from the ratings of a kit: raters, agreement, and what each study is about."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ..data.sheets import harmless
from ..evaluation.judged import KIND, VERSION, JudgedDimension, JudgedValidity
from ..evaluation.validity import LEVELS, SampledCases, predicted_validity, validity_levels
from ..metrics.interval import percentile_interval, wilson
from ..metrics.rank import spearman
from ..perturbations.readability import Readability
from ..runs.display import estimate, rounded
from ..text.ragged import Floats, Ints
from .agreement import (
    alpha_of,
    check_third,
    cohen,
    coincidences,
    decided,
    disputed,
    fleiss,
    kendall_w,
    krippendorff,
    rating_counts,
)
from .correlation import BETTER, Correlation, Draws, chance_of_better, correlate, draw_examples, vary_enough
from .items import Item, Key
from .measures import measure_pairs
from .published import ALIKE, SHARE_ABOVE, published_correlation, published_share
from .ratings import Check, Ratings, check_ranks, check_raters, rows_of
from .sampling import edits_band
from .studies import CHRF_ABOVE, DECIDE, PASS, STUDIES, Decide

SCHEMA = 1
FEW = 5  # pairs: with fewer a correlation is not computed
CHRF = "chrF"


@dataclass(frozen=True, eq=False)
class Judged:
    """The ratings that count, of the items of the study. values: by rater and item; one: decided; measures: by item."""

    key: Key
    items: list[Item]
    raters: tuple[str, ...]
    values: Floats
    one: Floats
    measures: dict[str, Floats]
    left_out: dict[str, str]
    content: dict[str, Any]

    @property
    def disputed(self) -> set[str]:
        """The ids of the items that a third rater must decide."""
        return {self.items[at].id for at in disputed(self.values).tolist()}


def judge(
    key: Key,
    ratings: Ratings,
    *,
    decide: Decide | None = None,
    least: float = PASS,
    keep: bool = False,
    metrics: Sequence[str] = (),
    encoder: str | None = None,
    above: float = CHRF_ABOVE,
    predict: bool = False,
    mlm: str | None = None,
) -> Judged:
    """Returns what the ratings say. `api.judge_import` explains the options. Raises ValueError if no rater is left."""
    study = STUDIES[key.study]
    how = decide or study.decide
    if how not in DECIDE:
        raise ValueError(f"expected {', '.join(DECIDE)} for decide, got {decide!r}")
    for flag, share in (("--pass", least), ("--above", above)):
        if not 0 <= share <= 1:
            raise ValueError(f"expected a share from 0 to 1 for {flag}, got {share:g}")
    if study.name == "readability":
        ratings, how = check_ranks(ratings, key), "mean"
    checks = check_raters(ratings, key, least)
    kept = [check.rater for check in checks if check.passed or keep]
    if not kept:
        raise ValueError(f"expected raters who pass the controls, got none of {len(checks)}: see --pass, --keep-all")
    if how == "third":
        _check_roles(checks, kept)
    rows = rows_of(key, "study")
    items, values = [key.items[at] for at in rows], ratings.only(kept).values[:, rows]
    one = decided(values, how)
    content: dict[str, Any] = {
        "schema": SCHEMA, "kit": key.kit, "study": key.study, "paper": study.paper, "seed": key.seed,
        "language": key.language, "sources": list(key.sources), "pass": least,
        "raters": [
            {
                "name": check.rater, "rated": check.rated, "of": check.of, "controls": list(check.controls),
                "qualification": list(check.qualification), "passed": check.passed, "kept": check.rater in kept,
            }
            for check in checks
        ],
        "decide": how, "items": len(items), "decided": int(np.isfinite(one).sum()),
        "disputed": len(disputed(values)),
        "one_rating": int((np.isfinite(values).sum(0) == 1).sum()), "unrated": int((~np.isfinite(values)).all(0).sum()),
    }  # fmt: skip
    judged = Judged(key, items, tuple(kept), values, one, {}, {}, content)
    if study.name == "readability":
        content |= _readability(judged)
        return judged
    draws = draw_examples([item.before for item in items], key.seed)  # whatever ids several runs gave to an example
    independent = values[:2] if how == "third" else values  # a third rater sees the disputed items alone
    content["agreement"] = _agreement(independent, len(study.scale), study.ordinal, draws)
    content["ratings"] = {str(at): int((one == at).sum()) for at in range(len(study.scale))}
    pairs = [item.before for item in items], [item.after for item in items]
    measures, left_out = measure_pairs(*pairs, metrics=metrics, encoder=encoder)
    judged = Judged(key, items, tuple(kept), values, one, measures, left_out, content)
    content["left_out"] = left_out
    content["correlation"] = [entry for entry in _correlations(judged, draws) if entry]
    content |= _meaning(judged, draws, above) if study.name == "meaning" else {"validity": _validity(judged)}
    if predict:
        content["predicted"] = _predicted(judged, draws, encoder, mlm)
    return judged


def _check_roles(checks: Sequence[Check], kept: Sequence[str]) -> None:
    """Raises ValueError if the third rater would take the place of one of the first two, who is left out.

    Whoever has seen the disputed items alone is no independent rater, and then nobody is left to decide.
    """
    check_third(len(checks))
    failed = [check.rater for check in checks[:2] if check.rater not in kept]
    if len(checks) == 3 and failed:
        raise ValueError(
            f"expected first two raters who pass the controls for third, got {' and '.join(failed)}, who did not: leave out "
            "that file, or see --decide vote, --pass, --keep-all"
        )


# agreement


def _agreement(values: Floats, count: int, ordinal: bool, draws: Draws) -> dict[str, Any]:
    """Returns how far the raters agree; intervals resample examples."""
    each = coincidences(values, count)
    enough = vary_enough(values, draws)
    rated = int((np.isfinite(values).sum(0) > 1).sum())  # items with one rating alone do not count
    out: dict[str, Any] = {}
    for level in ("ordinal", "nominal") if ordinal else ("nominal",):
        again = alpha_of(
            np.tensordot(draws.astype(np.float64), each, 1), "ordinal" if level == "ordinal" else "nominal"
        )
        alpha = krippendorff(values, "ordinal" if level == "ordinal" else "nominal", count)
        interval = percentile_interval(again) if enough else (math.nan, math.nan)
        out[f"alpha_{level}"] = {**estimate(alpha, interval), "items": rated}
    table = rating_counts(values, count)
    out["fleiss"] = {"value": rounded(fleiss(table)), "items": len(table)}
    pairs = []
    for one, other in combinations(range(len(values)), 2):
        both = np.isfinite(values[one]) & np.isfinite(values[other])
        same = float((values[one][both] == values[other][both]).mean()) if both.any() else math.nan
        entry = {
            "raters": [one, other], "items": int(both.sum()), "same": rounded(same),
            "cohen": rounded(cohen(values[one], values[other], count)),
        }  # fmt: skip
        if ordinal:
            entry["cohen_squared"] = rounded(cohen(values[one], values[other], count, squared=True))
        pairs.append(entry)
    out["pairs"] = pairs
    return out


# correlations with metrics


def _parts(judged: Judged) -> Iterator[tuple[str, str, Any, Ints]]:
    """Yields side, what it is broken down by, the value, and the items: all, by number of edits, by attack, by degree."""
    items = judged.items
    for side in ("source", "target"):
        rows = [at for at, item in enumerate(items) if item.side == side and np.isfinite(judged.one[at])]
        if not rows:
            continue
        yield side, "all", None, np.array(rows)
        for by in ("edits", "attack", "degree"):
            kinds: dict[int, Any] = {
                at: edits_band(items[at]) if by == "edits" else getattr(items[at], by) for at in rows
            }
            found = set(kinds.values()) - {None}
            for value in sorted(found) if len(found) > 1 else ():
                yield side, by, value, np.array([at for at in rows if kinds[at] == value])


def _correlations(judged: Judged, draws: Draws) -> Iterator[dict[str, Any] | None]:
    for side, by, value, rows in _parts(judged):
        yield _correlated(judged, draws, side, by, value, rows)


def _correlated(judged: Judged, draws: Draws, side: str, by: str, value: Any, rows: Ints) -> dict[str, Any] | None:
    """Returns Pearson and Spearman of the ratings with each measure, and whether the best is significantly better."""
    if rows.size < FEW:
        return None
    rating, here = judged.one[rows], draws[:, rows]
    metrics: dict[str, Any] = {}
    found: dict[str, Correlation] = {}
    for name, values in judged.measures.items():
        linear, by_rank = (correlate(rating, values[rows], here, by_rank=rank) for rank in (False, True))
        metrics[name] = {
            "pearson": estimate(linear.value, linear.interval), "spearman": estimate(by_rank.value, by_rank.interval),
            "paper": published_correlation(by, value, side, name) if judged.key.study == "meaning" else "",
        }  # fmt: skip
        if not math.isnan(linear.interval[0]):  # else resamples do not tell which is better
            found[name] = linear
    order = sorted(found, key=lambda name: -found[name].value)
    for name, worse in pairwise(order):
        p = chance_of_better(found[name], found[worse])
        metrics[name] |= {"next": worse, "p": round(p, 6), "better": p < BETTER}
    return {"side": side, "by": by, "value": value, "pairs": int(rows.size), "metrics": metrics}


def _meaning(judged: Judged, draws: Draws, above: float) -> dict[str, Any]:
    """Returns mean ratings, and the chrF of the pairs that people found alike (TEAPOT, section 4.3)."""
    means = []
    alike = []
    for side, by, value, rows in _parts(judged):
        rating = judged.one[rows]
        with np.errstate(invalid="ignore"):
            again = (draws[:, rows] @ rating) / draws[:, rows].sum(1)
        mean = estimate(float(rating.mean()), percentile_interval(again))
        means.append({"side": side, "by": by, "value": value, "pairs": int(rows.size), "mean": mean})
        if by == "all" and CHRF in judged.measures:
            kept = rows[rating >= ALIKE]
            found = _threshold(judged.measures[CHRF][kept], draws[:, kept], above)
            alike.append({"side": side, "pairs": int(kept.size), **found})
    return {"means": means, "alike": alike}


def _threshold(values: Floats, draws: Draws, above: float) -> dict[str, Any]:
    """Returns the share of pairs above a threshold, and the value that 90 % of them exceed."""
    count = int((values > above).sum())
    share = count / values.size if values.size else math.nan
    quantile = float(np.quantile(values, 1 - SHARE_ABOVE)) if values.size else math.nan
    again = [np.quantile(np.repeat(values, row.astype(np.int64)), 1 - SHARE_ABOVE) for row in draws if row.any()]
    return {
        "above": above, "count": count, "share": estimate(share, wilson(share, values.size)),
        "exceeded": SHARE_ABOVE, "by": estimate(quantile, percentile_interval(np.array(again))),
    }  # fmt: skip


# validity


def _validity(judged: Judged) -> dict[str, list[dict[str, Any]]]:
    """Returns the share of valid cases by dimension and degree, with Wilson's interval and RobTest's figure."""
    out: dict[str, list[dict[str, Any]]] = {}
    cells = sorted({(item.attack, item.degree or 0.0) for item in judged.items})
    for attack, degree in cells:
        rows = [at for at, item in enumerate(judged.items) if (item.attack, item.degree or 0.0) == (attack, degree)]
        rated = judged.one[rows][np.isfinite(judged.one[rows])]
        share = float(rated.mean()) if rated.size else math.nan
        out.setdefault(attack, []).append(
            {
                "degree": degree, "valid": int(rated.sum()), "of": int(rated.size), "asked": len(rows),
                "share": estimate(share, wilson(share, rated.size)), "paper": published_share(attack, degree),
            }
        )  # fmt: skip
    return out


def _predicted(judged: Judged, draws: Draws, encoder: str | None, mlm: str | None) -> dict[str, Any]:
    """Returns, for each measure that predicts validity, the share of valid cases at each of five levels (RobTest, Figure 5)."""
    if judged.key.study != "validity":
        raise ValueError(f"expected the study validity to predict it, got {judged.key.study}")
    rows = [at for at, item in enumerate(judged.items) if item.reached is not None and np.isfinite(judged.one[at])]
    if not rows:
        raise ValueError("expected rated cases whose degree was measured, got none")
    some, none = [judged.items[at] for at in rows], np.zeros(len(rows), np.int64)
    reached = np.array([item.reached for item in some], np.float64)
    cases = SampledCases([item.before for item in some], [item.after for item in some], none, none, none, reached)
    rated, out = judged.one[rows], {}
    for name, values in predicted_validity(cases, encoder=encoder, mlm=mlm).items():
        level = validity_levels(values)
        shares = [rated[level == at] for at in range(LEVELS)]
        found = correlate(rated, values, draws[:, rows], by_rank=True)
        out[name] = {
            "levels": [{"of": one.size, "share": rounded(float(one.mean()) if one.size else math.nan)} for one in shares],
            "spearman": estimate(found.value, found.interval),
        }  # fmt: skip
    return out


def weights_of(content: dict[str, Any]) -> JudgedValidity:
    """Returns what `scuff evaluate --validity` reads. Raises ValueError if there is nothing to weigh degrees with."""
    if content["study"] != "validity":
        raise ValueError(f"expected the study validity for weights, got {content['study']}")
    cells = {
        name: [cell for cell in entries if cell["of"] and cell["degree"] > 0]
        for name, entries in content["validity"].items()
    }
    found: dict[str, JudgedDimension] = {
        name: {
            "degrees": [cell["degree"] for cell in entries],
            "valid": [cell["share"]["value"] for cell in entries],
            "of": [cell["of"] for cell in entries],
        }
        for name, entries in cells.items()
        if entries
    }
    if not found:
        raise ValueError("expected ratings of cases at some degree, got none: attacks have no degrees to weigh")
    raters = sum(rater["kept"] for rater in content["raters"])
    return {
        "kind": KIND, "version": VERSION, "name": f"kit {content['kit']}, {raters} rater{'s' * (raters != 1)}",
        "dimensions": found,
    }  # fmt: skip


# readability


def _readability(judged: Judged) -> dict[str, Any]:
    """Returns the mean rank of each perturbation among those ranked, how far raters agree, and the thesis's ranks."""
    names = list(dict.fromkeys(item.attack for item in sorted(judged.items, key=lambda item: item.attack)))
    groups = sorted({item.group for item in judged.items})
    place = np.full((len(judged.raters), len(groups), len(names)), np.nan)
    for at, item in enumerate(judged.items):
        place[:, groups.index(item.group), names.index(item.attack)] = judged.values[:, at]
    given = np.isfinite(place)
    # the clean version is ranked, too: without it ranks run from 1 to the number of perturbations
    order = np.where(given, (place[..., :, None] > place[..., None, :]).sum(-1) + 1.0, np.nan)
    if not given.any():
        raise ValueError("expected sets that some rater has ranked whole, got none")
    agree = [kendall_w(order[rated, at]) for at in range(len(groups)) if (rated := given[:, at].all(-1)).sum() > 1]
    rated = given.all(-1).any(0)
    by_text = np.stack([np.nanmean(order[:, at], 0) for at in np.flatnonzero(rated).tolist()])
    mean = by_text.mean(0)
    draws = draw_examples([str(at) for at in range(len(by_text))], judged.key.seed).astype(np.float64)
    again = draws @ by_text / draws.sum(1, keepdims=True)
    rows = []
    for at in np.argsort(mean, kind="stable").tolist():
        known = Readability.of(perturbation_of(names[at]))
        interval = percentile_interval(again[:, at]) if len(by_text) > 1 else (math.nan, math.nan)
        rows.append(
            {
                "attack": names[at],
                "mean": estimate(float(mean[at]), interval),
                "thesis": round(sum(known.raters) / len(known.raters), 2) if known.raters else None,
                "effort": known.effort[-1] if known.effort else None,
            }
        )  # fmt: skip
    beside = {}
    for what in ("thesis", "effort"):
        both = [(row["mean"]["value"], row[what]) for row in rows if row[what] is not None]
        if len(both) > 2:
            beside[what] = {"of": len(both), "spearman": rounded(spearman(*zip(*both, strict=True)))}
    return {
        "texts": int(rated.sum()), "sets": int(given.all(-1).sum()), "ranks": rows, "beside": beside,
        "agreement": {"kendall_w": {"value": rounded(float(np.mean(agree)) if agree else math.nan), "sets": len(agree)}},
    }  # fmt: skip


def perturbation_of(name: str) -> str:
    """Returns the name of the perturbation of a dimension: keyboard of keyboard@level."""
    return name.partition("@")[0].partition("(")[0].rpartition("=")[2].removesuffix("-level")


def item_rows(judged: Judged) -> list[list[str]]:
    """Returns a table of the items of the study, head first: what each is, all ratings, the decided one, all measures."""
    head = ["id", "side", "attack", "degree", "edits", "example", *judged.raters, "decided", *judged.measures]
    rows = [list(map(harmless, head))]
    for at, item in enumerate(judged.items):
        given = [item.id, item.side, harmless(item.attack), item.degree, item.edits, harmless(item.example)]
        rated = [*judged.values[:, at].tolist(), float(judged.one[at])]
        measured = [round(float(values[at]), 6) for values in judged.measures.values()]
        rows.append([_cell(value) for value in (*given, *rated, *measured)])
    return rows


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)
