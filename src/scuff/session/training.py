"""Data to train on, by the names or objects that the user gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..files import Input
from ..files.records import Record, read_records, records_of_hub, records_of_object
from ..files.streams import Source
from ..text.dataset import Dataset


def training_file(data: Any, format: str | None, split: str | None) -> Input:
    """A file by its name; other data as the JSON lines that it would be. What comes through a pipe is kept, to be read twice."""
    if (path := _path(data)) is not None:
        return Input(path, format, content=Source(path).stream.read() if path == "-" else None)
    name, records = training_records(data, format, split)
    lines = [json.dumps(record, ensure_ascii=False, default=str) + "\n" for record in records]
    return Input(name, "jsonl", content="".join(lines).encode("utf-8", "surrogatepass"))


def training_records(data: Any, format: str | None, split: str | None) -> tuple[str, list[Record]]:
    """What to call the data, and its records: of data in parts those for training, unless `split` says otherwise."""
    name = str(data) if isinstance(data, str | Path) else type(data).__name__
    if _path(data) is not None:
        return name, list(read_records(training_file(data, format, split)))
    if name.startswith("toy:"):
        from ..victims.toy import toy_data

        texts, labels = toy_data(name.removeprefix("toy:"), split or "train")  # type: ignore[arg-type]
        return name, [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
    if isinstance(data, Dataset):
        columns = dict(zip(data.fields, data.columns, strict=True)) | {"label": data.targets}
        return data.name, [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if isinstance(data, str | Path):
        return name, records_of_hub(name.removeprefix("hf:"), split or "train")[0]
    return name, records_of_object(data)[0]


def _path(data: Any) -> str | None:
    """The file that data names, if it names one."""
    named = isinstance(data, str | Path) and not str(data).startswith(("toy:", "hf:")) and not Path(data).is_dir()
    return str(data) if named else None
