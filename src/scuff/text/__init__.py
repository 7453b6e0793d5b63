"""Text as arrays, edits as data. Imports numpy, touches no disk."""

from .corpus import Corpus
from .edits import Edit, Edits, map_span, map_spans
from .ragged import Ragged
from .random import Rng
from .words import Letters, Spans

__all__ = ["Corpus", "Edit", "Edits", "Letters", "Ragged", "Rng", "Spans", "map_span", "map_spans"]
