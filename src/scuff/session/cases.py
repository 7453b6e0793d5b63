"""The texts that an evaluation would ask about, for models that can only be asked elsewhere."""

from __future__ import annotations

import json
from typing import Any

from ..evaluate.block import make_cases
from ..files.streams import replacing
from .config import Config
from .opening import open_data


def write_cases(source: Any, path: str, **settings: Any) -> int:
    """One line per different text, clean ones first, with `prediction` to be filled in. Gives their number."""
    config = Config.of(**settings)
    data = open_data(source, config).sample(config.examples, config.seed)
    protocol, _ = config.protocol_for(data, 10_000)
    seen = dict.fromkeys(zip(*data.columns, strict=True))
    for rows in protocol.blocks(len(data), len(protocol.cells), protocol.cases):
        for made in make_cases(data.take(rows), protocol, protocol.cells, 0, protocol.cases):
            seen |= dict.fromkeys(zip(*made.cases.columns, strict=True))
    with replacing(path) as out:
        for texts in seen:
            record = {**dict(zip(data.fields, texts, strict=True)), "prediction": None}
            out.write((json.dumps(record, ensure_ascii=False) + "\n").encode())
    return len(seen)
