"""Writes the texts that an evaluation would ask about to a file, for models that Scuff cannot call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from ..data.dataset import Text
from ..data.formats.streams import replacing
from ..runs.inputs import open_data
from ..runs.settings import EXAMPLES
from .block import make_cases
from .plan import make_protocol
from .settings import EvaluationSettings


def write_cases(source: Any, path: str, **given: Any) -> int:
    """Writes one JSON line per distinct text, clean ones first, with an empty field `prediction`. Returns how many.

    given: settings by name. Raises ValueError if a dimension needs scores or gradients.
    """
    settings = EvaluationSettings.of(**given)
    if settings.guided:
        raise ValueError(
            "expected the access rule for --write-cases, got another: what is asked would depend on the answers"
        )
    if settings.shield:
        raise ValueError(
            f"expected no shield for --write-cases, got {settings.shield}: mend the texts in front of the model that answers them"
        )
    data = open_data(source, settings).sample(settings.examples or EXAMPLES, settings.seed)
    protocol, _ = make_protocol(settings, data, 10_000)
    seen: set[bytes] = set()
    with replacing(path) as out:

        def write(columns: Sequence[Sequence[Text]]) -> None:
            for texts in zip(*columns, strict=True):
                line = json.dumps(
                    {**dict(zip(data.fields, texts, strict=True)), "prediction": None}, ensure_ascii=False
                )
                digest = blake2b(line.encode(), digest_size=16).digest()  # the texts themselves may not fit into memory
                if digest not in seen:
                    seen.add(digest)
                    out.write(f"{line}\n".encode())

        write(data.columns)
        for rows, _ in protocol.blocks(data, len(protocol.cells), protocol.cases):
            for made in make_cases(data.take(rows), protocol, protocol.cells, 0, protocol.cases):
                write(made.cases.columns)
    return len(seen)
