"""Shields: text in, mended text out. They stand in front of any model and do not touch it."""

from __future__ import annotations

from ..text.corpus import Corpus
from .base import Repairs, Shield
from .chain import Chain
from .detect import Detector, Verdict
from .mending import Repair
from .names import CHAINS, FAMILY, parse

__all__ = ["CHAINS", "FAMILY", "Chain", "Corpus", "Detector", "Repair", "Repairs", "Shield", "Verdict", "parse"]
