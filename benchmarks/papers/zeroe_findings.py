"""What section 4 of Zéroe says about its results, as tests of a table of scores: the paper's own, ours, a resample of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from scuff.metrics.rank import ranks
from scuff.perturbations import LEVELS


@dataclass(frozen=True)
class Scores:
    """The scores of a task: without perturbation, of guessing, by perturbation and level; and how much text was changed."""

    clean: float
    worst: float
    values: Mapping[str, Mapping[str, float]]
    distance: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def left(self, name: str, level: str = "high") -> float:
        """s*: the share of the clean score that is left."""
        return self.values[name][level] / self.clean

    def drop(self, name: str, level: str = "high") -> float:
        return 1 - self.left(name, level)

    def rank(self, name: str, level: str = "high") -> float:
        """1 is the most harmful; equal scores share their ranks."""
        return float(ranks([self.values[each][level] for each in self.values])[list(self.values).index(name)])


Tables = Mapping[str, Scores]  # by task
Test = Callable[[Tables, str], tuple[bool, str]]


@dataclass(frozen=True)
class Finding:
    """What the paper says, where, for which tasks, and the test: whether it holds for a task, and the numbers that decide."""

    says: str
    section: str
    tasks: tuple[str, ...]
    test: Test


def spearman(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """The rank correlation."""
    return correlation(ranks(one), ranks(other))


def correlation(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """Pearson's; 0 if one of them is constant."""
    first, second = (
        numbers - numbers.mean() for numbers in (np.asarray(one, np.float64), np.asarray(other, np.float64))
    )
    size = float(np.sqrt((first**2).sum() * (second**2).sum()))
    return float((first * second).sum()) / size if size > 1e-12 else 0.0


def points(share: float) -> str:
    return f"{100 * share:.0f}"


def _all_drop(tables: Tables, task: str) -> tuple[bool, str]:
    one = tables[task]
    least = min(one.values, key=one.drop)
    return one.drop(least) > 0, f"least {least}, {100 * one.drop(least):.1f} points"


def _falling(tables: Tables, task: str) -> tuple[bool, str]:
    one = tables[task]
    falls = [name for name in one.values if one.left(name, "low") >= one.left(name, "mid") >= one.left(name, "high")]
    return len(falls) == len(one.values), f"{len(falls)} of {len(one.values)}"


def _phonetic_last(tables: Tables, task: str) -> tuple[bool, str]:
    """Holds for a tie, too: the paper rounds to two digits."""
    one = tables[task]
    return one.rank("phonetic") >= len(one.values) - 0.5, f"rank {one.rank('phonetic'):g} of {len(one.values)}"


def _phonetic_little(tables: Tables, task: str) -> tuple[bool, str]:
    lost = tables[task].drop("phonetic")
    return lost <= 0.1, f"{points(lost)} points"


def _truncate_more(tables: Tables, task: str) -> tuple[bool, str]:
    first, second = tables[task].drop("truncate"), tables[task].drop("phonetic")
    return first > second, f"{points(first)} and {points(second)} points"


def _truncate_ends(tables: Tables, task: str) -> tuple[bool, str]:
    more = tables[task].drop("truncate") - tables[task].drop("truncate", "mid")
    return more <= 0.05, f"{points(more)} points more"


def _segment_truncate(tables: Tables, task: str) -> tuple[bool, str]:
    first, second = tables[task].drop("segment"), tables[task].drop("truncate")
    return first > second, f"{points(first)} and {points(second)} points"


def _segment_phonetic(tables: Tables, task: str) -> tuple[bool, str]:
    far = max(abs(tables[task].left("segment", level) - tables[task].left("phonetic", level)) for level in LEVELS)
    return far <= 0.02, f"up to {100 * far:.1f} points apart"


def _natural_line(tables: Tables, task: str) -> tuple[bool, str]:
    share = [0.0, *LEVELS.values()]
    left = [1.0, *(tables[task].left("natural", level) for level in LEVELS)]
    fit = correlation(share, left) ** 2
    return fit >= 0.95, f"R² {fit:.2f}"


def _natural_half(tables: Tables, task: str) -> tuple[bool, str]:
    lost = tables[task].drop("natural")
    return 0.3 <= lost <= 0.6, f"{points(lost)} points"


def _shuffles(tables: Tables, task: str) -> tuple[bool, str]:
    first, second = tables[task].drop("full-shuffle"), tables[task].drop("inner-shuffle")
    return first > second, f"{points(first)} and {points(second)} points"


def _shuffle_ranks(tables: Tables, task: str) -> tuple[bool, str]:
    first, second = tables[task].rank("full-shuffle"), tables[task].rank("inner-shuffle")
    return first <= 3 and 4 <= second <= 8, f"ranks {first:g} and {second:g}"


def _vowels(tables: Tables, task: str) -> tuple[bool, str]:
    more = tables[task].drop("disemvowel") - tables[task].drop("natural")
    return 0 <= more <= 0.1, f"{points(more)} points more"


def _keyboard(tables: Tables, task: str) -> tuple[bool, str]:
    rank = tables[task].rank("keyboard")
    return 4 <= rank <= 7, f"rank {rank:g}"


def _intrude(tables: Tables, task: str) -> tuple[bool, str]:
    rank = tables[task].rank("intrude")
    return rank <= 2, f"rank {rank:g}"


def _intrude_most(tables: Tables, task: str) -> tuple[bool, str]:
    lost = tables[task].drop("intrude")
    return lost >= 0.8, f"{points(lost)} points"


def _visual(tables: Tables, task: str) -> tuple[bool, str]:
    rank = tables[task].rank("visual")
    return rank <= 2, f"rank {rank:g}"


def _visual_low(tables: Tables, task: str) -> tuple[bool, str]:
    lost = tables[task].drop("visual", "low")
    return lost >= 0.4, f"{points(lost)} points"


def _visual_line(tables: Tables, task: str) -> tuple[bool, str]:
    one = tables[task]
    return one.values["visual"]["high"] < one.worst, f"{one.values['visual']['high']:.2f}, line {one.worst:.2f}"


def _first_three(tables: Tables, task: str) -> tuple[bool, str]:
    found = {name: tables[task].rank(name) for name in ("intrude", "visual", "full-shuffle")}
    holds = max(found["intrude"], found["visual"]) <= 2 and found["full-shuffle"] == 3
    return holds, "ranks " + ", ".join(f"{rank:g}" for rank in found.values())


def _less_in_tc(tables: Tables, task: str) -> tuple[bool, str]:
    names = ("segment", "keyboard", "natural")
    rest = {
        name: [tables[t].drop(name) for t in ("pos", "nli") if t in tables and name in tables[t].values]
        for name in names
    }
    said = ", ".join(f"{name} {points(tables[task].drop(name))}" for name in names)
    if not any(rest.values()):
        return False, f"{said} points; the other tasks were not run"
    return all(tables[task].drop(name) < min(rest[name]) for name in names if rest[name]), f"{said} points"


def _line(tables: Tables, task: str) -> tuple[bool, str]:
    one = tables[task]
    pairs = [
        (one.distance[name][level], one.left(name, level)) for name in one.distance for level in one.distance[name]
    ]
    along = correlation(*np.array(pairs).T)
    return along <= -0.7, f"correlation {along:.2f}"


EVERY = ("pos", "nli", "tc")
FINDINGS = (
    Finding("every perturbation lowers the score (high)", "4.2", EVERY, _all_drop),
    Finding("the higher the level, the lower the score", "4.2", EVERY, _falling),
    Finding("phonetic is the least harmful", "4.2, 4.4", EVERY, _phonetic_last),
    Finding("phonetic takes at most 10 points", "4.2", EVERY, _phonetic_little),
    Finding("truncate takes more than phonetic", "4.2", EVERY, _truncate_more),
    Finding("truncate at high is hardly worse than at mid (at most 5 points)", "4.2", EVERY, _truncate_ends),
    Finding("segment takes more than truncate at high", "4.2", ("nli",), _segment_truncate),
    Finding("segment is almost as phonetic (within 2 points)", "4.2", ("tc",), _segment_phonetic),
    Finding("natural takes linearly more with the level (R² from 0.95)", "4.2", EVERY, _natural_line),
    Finding("natural takes 40 to 50 points at high (30 to 60 here)", "4.2", ("pos", "nli"), _natural_half),
    Finding("full-shuffle takes more than inner-shuffle", "4.2", EVERY, _shuffles),
    Finding(
        "full-shuffle is among the three strongest, inner-shuffle in the midfield (4 to 8)",
        "4.2",
        EVERY,
        _shuffle_ranks,
    ),
    Finding("disemvowel takes a little more than natural (0 to 10 points)", "4.2", ("pos",), _vowels),
    Finding("keyboard is in the middle (ranks 4 to 7)", "4.2", EVERY, _keyboard),
    Finding("intrude is one of the two strongest", "4.2, 4.4", EVERY, _intrude),
    Finding("intrude takes more than 80 points", "4.2", ("pos",), _intrude_most),
    Finding("visual is one of the two strongest", "4.2, 4.4", ("nli", "tc"), _visual),
    Finding("visual takes more than 40 points at low", "4.2", ("nli",), _visual_low),
    Finding("visual at high falls below the red line", "4.2", ("tc",), _visual_line),
    Finding("intrude and visual are strongest, full-shuffle is third", "4.4", EVERY, _first_three),
    Finding("segment, keyboard, natural take less than in the other tasks", "4.4", ("tc",), _less_in_tc),
    Finding("the score falls linearly with the edit distance (correlation to -0.7)", "4.4, Figure 5", EVERY, _line),
)
