"""Attacks: searches among proposed edits for texts that fool a victim."""

from .attack import Attack
from .recipes import RECIPES, find_recipe
from .settings import AttackSettings

__all__ = ["RECIPES", "Attack", "AttackSettings", "find_recipe"]
