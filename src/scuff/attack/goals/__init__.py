"""Goals: what an attacker wants to hear. One for translations needs only another class here."""

from ...text.calls import made
from .base import Goal
from .labels import Targeted, Untargeted
from .others import Reduction, Tags
from .toxic import ToxicTrap

GOALS: dict[str, type[Goal]] = {goal.name: goal for goal in (Untargeted, Targeted, ToxicTrap, Tags, Reduction)}


def parse_goal(spec: str) -> Goal:
    """The goal that `name(option=value)` means."""
    return made(spec, GOALS, "a goal")


__all__ = ["GOALS", "Goal", "Reduction", "Tags", "Targeted", "ToxicTrap", "Untargeted", "parse_goal"]
