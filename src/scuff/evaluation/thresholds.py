"""Thresholds of the gate: reads them, and compares their names with what a run will measure before the run begins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches

from ..perturbations.base import LEVELS
from ..perturbations.names import FAMILY
from .dimensions import ACCESS, COLUMNS, DEFAULT, Dimension
from .plan import usual_dimensions
from .published import at_level, published_dimension
from .score import DEGREES
from .settings import EvaluationSettings

Threshold = float | str  # a number in [0, 1], or a percentage such as "80%"

OVERALL = ("clean", "average", "worst", "worst_alone", "answered", "tried")  # scores that every evaluation has
OVER_DIMENSIONS = ("average", "worst", "worst_alone", "each")  # names that stand for all dimensions
OF_DIMENSION = re.compile(
    r"(.+?)(?:@[0-9.]+)?(?:\.worst|\.worst_alone|\.tried|\.auc|\.left)?"
)  # a score of the dimension in the group


def read_share(value: Threshold, what: str) -> float:
    """Returns a threshold as a number in [0, 1]. Raises ValueError if it is neither such a number nor a percentage."""
    text = str(value).strip()
    try:
        number = float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        number = float("nan")
    if not 0 <= number <= 1:
        hint = f": write {number / 100:g} or {number:g}%" if 1 < number <= 100 and not text.endswith("%") else ""
        raise ValueError(f"expected a number in [0, 1], or a percentage, for {what}, got {value!r}{hint}")
    return number


def score_names(dimensions: Mapping[str, str], degrees: Iterable[float]) -> list[str]:
    """Returns the names of all scores that an evaluation may have. dimensions: their names, each with its access."""
    each = [f"{name}@{degree:g}" for name in dimensions for degree in degrees]
    aucs = ["clean.auc", *(f"{name}.{part}" for name in each for part in ("auc", "left"))]
    both = [f"{name}{part}" for name in (*dimensions, *each) for part in ("", ".worst", ".worst_alone", ".tried")]
    return [*OVERALL, *both, *aucs]


def matching(name: str, scores: Iterable[str], dimensions: Mapping[str, str]) -> list[str]:
    """Returns the names of the scores that a name stands for. Raises ValueError, with near names, if there are none.

    dimensions: their names, each with its access.
    """
    known = list(scores)
    if name in known:
        return [name]
    if name == "each" and dimensions:
        return list(dimensions)
    each = [found for found, access in dimensions.items() if name == f"each@{access}"]
    if each:
        return each
    near = get_close_matches(name, known, 3, 0.5) or known[:8]
    each_too = " (and `each` for all dimensions)" if dimensions else ""
    raise ValueError(f"expected the name of a score, got {name!r}; there are {', '.join(near)}{each_too}")


def dimensions_to_measure(
    settings: EvaluationSettings, least: Mapping[str, float], max_drop: float | None
) -> tuple[str, ...]:
    """Returns the dimensions that an evaluation needs for its thresholds. Raises ValueError if one names no score of the run.

    Dimensions that the user chose stay as they are. Else the dimensions that thresholds name are measured and, if some
    threshold is over all dimensions, the default ones, too. Asks no model, so a misspelt name costs nothing.
    """
    chosen = bool(settings.dimensions or settings.tag or settings.protocol == "zeroe")
    usual = _names(settings, settings.dimensions or usual_dimensions(settings), also_by_rule=chosen)
    degrees = settings.degrees or (tuple(LEVELS.values()) if settings.protocol == "zeroe" else DEGREES)
    named: dict[str, str] = {}  # spec: the name that it will have
    if not chosen:
        for name in least:
            named |= _dimension_of(name, usual, settings.access)
    names = usual | {name: Dimension.parse(spec).access for spec, name in named.items()}
    for name in least:
        matching(name, score_names(names, degrees), names)
    if chosen:
        return settings.dimensions
    needs_all = max_drop is not None or any(name.partition("@")[0] in OVER_DIMENSIONS for name in least)
    if not needs_all:
        return tuple(named or usual_dimensions(settings)[:1])  # a run has at least one
    beside = [spec for spec, name in named.items() if name not in usual or spec in usual_dimensions(settings)]
    return (DEFAULT, *beside) if beside else ()


def _dimension_of(name: str, usual: Mapping[str, str], access: tuple[str, ...]) -> dict[str, str]:
    """Returns the spec of the dimension that a name of a score contains, with the dimension's name; {} if it has none."""
    found = OF_DIMENSION.fullmatch(name)
    spec = found[1] if found else name
    if spec in (*OVERALL, "each") or spec.startswith("each@") or name == "clean.auc":
        return {}
    try:
        dimension = Dimension.parse(spec)
    except ValueError:
        near = get_close_matches(spec, [*usual, *COLUMNS, *FAMILY.members()], 3, 0.5)
        hint = f"; did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
        raise ValueError(
            f"expected the name of a score (clean, average, worst, each, a dimension), got {name!r}{hint}"
        ) from None
    by_rule = dimension.access == "rule" and "rule" not in access and not spec.endswith("@rule")
    return {f"{spec}@rule" if by_rule else spec: dimension.name}


def _names(settings: EvaluationSettings, specs: Iterable[str], *, also_by_rule: bool) -> dict[str, str]:
    """Returns the names that dimensions will have, each with its access.

    also_by_rule: add those with the access rule, which are measured if the model gives no scores or gradients.
    """
    out: dict[str, str] = {}
    for spec in [one for given in specs for one in (usual_dimensions(settings) if given == DEFAULT else [given])]:
        spec = published_dimension(spec, settings.protocol) if settings.as_published else spec
        spec = at_level(spec) if settings.protocol == "zeroe" else spec
        dimension = Dimension.parse(spec)
        given = dimension.access != "rule" or spec.endswith("@rule") or settings.protocol == "zeroe"
        for made in (
            [dimension] if given else [replace(dimension, access=name) for name in ACCESS if name in settings.access]
        ):
            out[made.name] = made.access
            if also_by_rule:
                out.setdefault(made.base, "rule")
    return out
