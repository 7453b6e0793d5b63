"""What Zéroe (4.3) and the thesis (4.2, 5.2) say about training, as tests of scores: the papers' own, ours, a resample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from scuff.metrics.gain import gain, helping_groups, won_back
from scuff.perturbations import LEVELS

Scores = Mapping[str, Mapping[str, float]]  # by perturbation and level; `none` is clean text


@dataclass(frozen=True)
class Trained:
    """The scores of a task. before: the model that is not mended. after: by method (loo, plm, pp) and tested perturbation; own
    and one_one: of 1-1, by the perturbation that was trained on.
    """

    clean: float
    worst: float
    before: Scores
    after: Mapping[str, Scores] = field(default_factory=dict)
    one_one: Mapping[str, Scores] = field(default_factory=dict)

    def rows(self, method: str) -> Scores:
        """The scores of a method by the tested perturbation; of 1-1, those of the model that was trained on it."""
        if method == "1-1":
            return {name: rows[name] for name, rows in self.one_one.items() if name in rows}
        return self.after.get(method, {})

    def gain(self, method: str, name: str, level: str) -> float:
        """Delta of a method."""
        return self.won(self.rows(method), name, level)

    def won(self, rows: Scores, name: str, level: str) -> float:
        before = self.clean if level == "none" else self.before[name][level]
        return float(gain(rows[name][level], before, self.clean))

    def gains(self, method: str, levels: tuple[str, ...] = tuple(LEVELS)) -> list[float]:
        return [self.gain(method, name, level) for name in self.rows(method) for level in levels]

    def mean(self, method: str) -> float:
        """What a method wins on average over perturbations and levels; nan if there is none of it."""
        if method == "1-1 others":
            found = [
                self.won(rows, name, level)
                for trained, rows in self.one_one.items() for name in rows if name != trained for level in LEVELS
            ]  # fmt: skip
        else:
            found = self.gains(method)
        return float(np.mean(found)) if found else float("nan")

    def share(self, method: str) -> float:
        """Which share of the loss a method wins back."""
        rows = self.rows(method)
        pairs = [(rows[name][level], self.before[name][level]) for name in rows for level in LEVELS]
        after, before = np.array(pairs).T if pairs else (np.zeros(0), np.zeros(0))
        return won_back(after, before, self.clean)

    def square(self) -> tuple[list[str], np.ndarray]:
        """The perturbations that were both trained on and tested, and their mean gains: a row for each tested one."""
        names = [name for name, rows in self.one_one.items() if all(each in rows for each in self.one_one)]
        table = [
            [np.mean([self.won(self.one_one[trained], name, level) for level in LEVELS]) for trained in names]
            for name in names
        ]
        return names, np.array(table)

    def groups(self) -> list[list[str]]:
        return helping_groups(*self.square())


Tasks = Mapping[str, Trained]
Test = Callable[[Tasks, str], tuple[bool, str] | None]  # None: a method that was not run


@dataclass(frozen=True)
class Finding:
    """What the paper says, where, for which tasks, and the test: whether it holds for a task, and the numbers that decide."""

    says: str
    section: str
    tasks: tuple[str, ...]
    test: Test


def points(share: float) -> str:
    return f"{100 * share:+.0f}"


def needs(*methods: str) -> Callable[[Test], Test]:
    """The test is about models of these methods: without them it says nothing."""

    def wrap(test: Test) -> Test:
        def checked(tasks: Tasks, task: str) -> tuple[bool, str] | None:
            have = tasks[task]
            if any(not have.rows(method) for method in methods):
                return None
            try:
                return test(tasks, task)
            except KeyError:  # a perturbation whose model was not trained
                return None

        return checked

    return wrap


def _names(found: list[str]) -> str:
    return ", ".join(found) or "none"


@needs("1-1", "loo")
def _order(tasks: Tasks, task: str) -> tuple[bool, str]:
    one, loo, other = (tasks[task].mean(method) for method in ("1-1", "loo", "1-1 others"))
    return one > loo > other, f"{points(one)}, {points(loo)}, {points(other)} points"


@needs("loo", "plm", "pp")
def _pretraining_less(tasks: Tasks, task: str) -> tuple[bool, str]:
    loo, plm, pp = (tasks[task].mean(method) for method in ("loo", "plm", "pp"))
    return max(plm, pp) < loo, f"{points(plm)}, {points(pp)} and {points(loo)} points"


@needs("plm", "pp")
def _pretraining_nothing(tasks: Tasks, task: str) -> tuple[bool, str]:
    found = [tasks[task].mean(method) for method in ("plm", "pp")]
    return max(map(abs, found)) <= 0.025, f"{points(found[0])}, {points(found[1])} points"


@needs("plm", "pp")
def _pretraining_helps(tasks: Tasks, task: str) -> tuple[bool, str]:
    found = [tasks[task].mean(method) for method in ("plm", "pp")]
    return min(found) >= 0.025, f"{points(found[0])}, {points(found[1])} points"


@needs("1-1")
def _own(tasks: Tasks, task: str) -> tuple[bool, str]:
    one = tasks[task]
    lost = [name for name in one.rows("1-1") if np.mean([one.gain("1-1", name, level) for level in LEVELS]) <= 0]
    return not lost, f"not {_names(lost)}" if lost else f"{len(one.rows('1-1'))} of {len(one.rows('1-1'))}"


@needs("1-1")
def _clean_lost(tasks: Tasks, task: str) -> tuple[bool, str]:
    found = [tasks[task].gain("1-1", name, "none") for name in tasks[task].rows("1-1")]
    return float(np.mean(found)) < 0, f"{100 * np.mean(found):+.1f} points on average"


@needs("1-1")
def _clean_won(tasks: Tasks, task: str) -> tuple[bool, str]:
    found = [tasks[task].gain("1-1", name, "none") for name in tasks[task].rows("1-1")]
    return float(np.mean(found)) > 0, f"{100 * np.mean(found):+.1f} points on average"


@needs("1-1")
def _rising(tasks: Tasks, task: str) -> tuple[bool, str]:
    one = tasks[task]
    rows = one.rows("1-1")
    rises = [
        name
        for name in rows
        if one.gain("1-1", name, "low") <= one.gain("1-1", name, "mid") <= one.gain("1-1", name, "high")
    ]
    return len(rises) >= 0.8 * len(rows), f"{len(rises)} of {len(rows)}"


def _best_at_high(*wanted: str) -> Test:
    @needs("1-1")
    def test(tasks: Tasks, task: str) -> tuple[bool, str]:
        one = tasks[task]
        order = sorted(one.rows("1-1"), key=lambda name: -one.gain("1-1", name, "high"))[: len(wanted)]
        return set(order) == set(wanted), _names([f"{name} {points(one.gain('1-1', name, 'high'))}" for name in order])

    return test


@needs("1-1")
def _mixed_signs(tasks: Tasks, task: str) -> tuple[bool, str]:
    _, table = tasks[task].square()
    other = table[~np.eye(len(table), dtype=bool)]
    return bool(
        (other > 0.005).any() and (other < -0.005).any()
    ), f"{points(other.min())} to {points(other.max())} points"


@needs("1-1")
def _groups(tasks: Tasks, task: str) -> tuple[bool, str]:
    told = [
        {"truncate", "disemvowel", "keyboard", "natural", "visual", "intrude"},
        {"full-shuffle", "inner-shuffle"},
        {"phonetic"},
    ]
    names = tasks[task].square()[0]
    found = tasks[task].groups()
    want = {frozenset(group & set(names)) for group in told} - {frozenset()}
    return {frozenset(group) for group in found} == want, "; ".join(_names(group) for group in found)


@needs("1-1")
def _visual_always(tasks: Tasks, task: str) -> tuple[bool, str] | None:
    names, table = tasks[task].square()
    if "visual" not in names:
        return None
    row = np.delete(table[names.index("visual")], names.index("visual"))
    return bool(row.min() > 0), f"{points(row.min())} to {points(row.max())} points"


@needs("loo")
def _phonetic(tasks: Tasks, task: str) -> tuple[bool, str]:
    far = max(abs(tasks[task].gain("loo", "phonetic", level)) for level in LEVELS)
    return far <= 0.02, f"up to {100 * far:.1f} points"


@needs("loo")
def _less_at_high(tasks: Tasks, task: str) -> tuple[bool, str]:
    one = tasks[task]
    found = {
        name: one.gain("loo", name, "high") - one.gain("loo", name, "mid")
        for name in ("visual", "intrude", "disemvowel")
    }
    return max(found.values()) < 0, _names([f"{name} {points(value)}" for name, value in found.items()]) + " points"


def _loo_best(*wanted: str) -> Test:
    @needs("loo")
    def test(tasks: Tasks, task: str) -> tuple[bool, str]:
        one = tasks[task]
        order = sorted(one.rows("loo"), key=lambda name: -one.gain("loo", name, "high"))[: len(wanted)]
        return set(order) == set(wanted), _names([f"{name} {points(one.gain('loo', name, 'high'))}" for name in order])

    return test


@needs("loo")
def _segment(tasks: Tasks, task: str) -> tuple[bool, str] | None:
    if "segment" not in tasks[task].rows("loo"):
        return None
    found = tasks[task].gain("loo", "segment", "high")
    return found < 0, f"{points(found)} points"


@needs("loo")
def _all_but_few(tasks: Tasks, task: str) -> tuple[bool, str]:
    one = tasks[task]
    helped = [name for name in one.rows("loo") if np.mean([one.gain("loo", name, level) for level in LEVELS]) > 0]
    return len(helped) >= 0.8 * len(one.rows("loo")), f"{len(helped)} of {len(one.rows('loo'))}"


def _most(method: str, name: str) -> Test:
    @needs(method)
    def test(tasks: Tasks, task: str) -> tuple[bool, str]:
        one = tasks[task]
        means = {each: float(np.mean([one.gain(method, each, level) for level in LEVELS])) for each in one.rows(method)}
        best = max(means, key=means.__getitem__)
        return best == name, f"{best} {points(means[best])}, {name} {points(means.get(name, float('nan')))} points"

    return test


def _pretrained_clean(method: str, low: float, high: float) -> Test:
    @needs(method)
    def test(tasks: Tasks, task: str) -> tuple[bool, str]:
        one = tasks[task]
        found = one.gain(method, next(iter(one.rows(method))), "none")
        return low <= found <= high, f"{100 * found:+.1f} points"

    return test


EVERY = ("pos", "nli", "tc")
FINDINGS = (
    Finding("1-1 wins more than leave-one-out, and that more than 1-1 against other perturbations", "Table 3", EVERY, _order),
    Finding("training on a perturbation helps against it", "4.3.1", EVERY, _own),
    Finding("1-1 loses a bit on clean text", "4.3.1", ("pos", "nli"), _clean_lost),
    Finding("1-1 wins on clean text, too", "4.3.1", ("tc",), _clean_won),
    Finding("1-1 wins more at higher levels (four in five)", "4.3.1", EVERY, _rising),
    Finding("1-1 wins most against intrude (high)", "4.3.1", ("nli",), _best_at_high("intrude")),
    Finding("1-1 wins most against intrude and visual (high)", "4.3.1", ("tc",), _best_at_high("intrude", "visual")),
    Finding("against other perturbations 1-1 wins or loses", "4.3.1, Figure 3", ("pos",), _mixed_signs),
    Finding("three groups help each other: replaced letters, shuffled ones, phonetic", "4.3.1, Figure 3", ("pos",), _groups),
    Finding("visual profits whatever is trained on", "4.3.1, Figure 3", ("pos",), _visual_always),
    Finding("leave-one-out helps against almost all (four in five)", "4.3.1, thesis 5.2", EVERY, _all_but_few),
    Finding("leave-one-out leaves phonetic as it is (within 2 points)", "4.3.1", ("pos",), _phonetic),
    Finding("leave-one-out wins less at high than at mid: visual, intrude, disemvowel", "4.3.1", ("pos",), _less_at_high),
    Finding("leave-one-out wins most against intrude, disemvowel (high)", "4.3.1", ("nli",), _loo_best("intrude", "disemvowel")),
    Finding("leave-one-out loses against segment (high)", "thesis 4.2.1", ("nli",), _segment),
    Finding("leave-one-out wins most against visual and intrude (high)", "4.3.1", ("tc",), _loo_best("visual", "intrude")),
    Finding("PLM and PP win less than leave-one-out", "thesis 5.2", EVERY, _pretraining_less),
    Finding("PLM and PP win nothing (within 2.5 points)", "thesis 5.2", ("pos", "nli"), _pretraining_nothing),
    Finding("PLM and PP help (2.5 points and more)", "thesis 5.2", ("tc",), _pretraining_helps),
    Finding("PLM wins most against disemvowel", "thesis 4.2.2", ("pos",), _most("plm", "disemvowel")),
    Finding("PP wins most against intrude", "thesis 4.2.3", ("pos",), _most("pp", "intrude")),
    Finding("PP loses 4 points on clean text (3 to 5)", "thesis 4.2.3", ("pos",), _pretrained_clean("pp", -0.05, -0.03)),
    Finding("PLM loses nothing on clean text (to a point)", "thesis 4.2.2", ("pos", "nli"), _pretrained_clean("plm", -0.01, 1)),
)  # fmt: skip
