"""Goals: which answers an attacker wants. `base.py` explains them, `labels.py` and `texts.py` have those that ship with Scuff."""

from __future__ import annotations

from ...specs import Family
from .base import WRONG, Goal, Reasons, reasons
from .labels import MISSED, NOT_TOXIC, THERE, Reduction, Tags, Targeted, ToxicTrap, Untargeted
from .texts import Decrease, Keyword, NoOverlap, TextGoal

GOALS: dict[str, type[Goal]] = {
    goal.name: goal for goal in (Untargeted, Targeted, ToxicTrap, Tags, Reduction, Decrease, NoOverlap, Keyword)
}
FAMILY: Family[Goal] = Family("a goal", "scuff.goals", Goal, GOALS)
parse_goal = FAMILY.build

__all__ = [
    "FAMILY", "GOALS", "MISSED", "NOT_TOXIC", "THERE", "WRONG", "Decrease", "Goal", "Keyword", "NoOverlap", "Reasons",
    "Reduction", "Tags", "Targeted", "TextGoal", "ToxicTrap", "Untargeted", "parse_goal", "reasons",
]  # fmt: skip
