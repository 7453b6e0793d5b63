"""Numbers from texts, labels and scores."""

from typing import Any

Metric = Any


def parse_metric(spec: Any) -> Any:
    return spec
