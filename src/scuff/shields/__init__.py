"""Shields: text in, mended text out. They stand in front of any model and do not touch it.

Each shield has a file of its name; the others serve one of them, or several:

    all             base, chain, names, mending (protected text, files, counts)
    normalise       unseen, order, scripts with odd, styles and decoding; look_alikes has the tables
    deobfuscate     symbols with variants and exceptions, stretched, spacing, glued with splitting; bits has the costs
    restore, fast   page, candidates with keys, channels and letters
    restore, context    context with units, features and network
    several         lexicon, hashes, language
"""

from __future__ import annotations

from ..text.corpus import Corpus
from .base import Repairs, Shield
from .chain import Chain
from .detect import Detection, Detector
from .mending import Repair
from .names import CHAINS, FAMILY, parse

__all__ = ["CHAINS", "FAMILY", "Chain", "Corpus", "Detection", "Detector", "Repair", "Repairs", "Shield", "parse"]
