"""Which model a run asked: what it calls itself, and what it answers."""

from __future__ import annotations

from hashlib import sha256

from ..evaluate import Truth
from ..evaluate.results import in_words, said
from ..text.dataset import Dataset
from ..victims import Query

PROBE = 32  # examples whose answers stand for the model when a run is resumed or a cache is read


def identity_of(query: Query, data: Dataset, truth: Truth) -> str:
    """The victim's own identity and, since a model can change under an unchanged name, its answers to a few examples."""
    victim = query.victim
    if victim.name.startswith(("http:", "chat:")):
        return f"{victim.identity}#{','.join(truth.labels)}"  # it costs, and may answer otherwise from time to time
    spread_out = range(0, len(data), max(1, len(data) // PROBE))  # files are often sorted by label
    probe = query(*data.take(spread_out).columns)
    answers = [truth.task, truth.labels, *(in_words(said(answer, truth)) for answer in probe.answers)]
    return f"{victim.identity}#{sha256(repr(answers).encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
