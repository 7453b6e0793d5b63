"""Work for the next thing while the caller is busy with the one before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(work: Callable[[Item], Result], items: Sequence[Item]) -> Iterator[Result]:
    """What `work` gives for each item, in their order; a thread works on the next one meanwhile.

    That helps where the work leaves Python: a tokenizer of Hugging Face does, and so does whoever waits for a GPU.
    """
    if len(items) == 1:
        yield work(items[0])
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as thread:
        coming = [thread.submit(work, item) for item in items[:1]]
        for item in items[1:]:
            ready = coming.pop().result()
            coming.append(thread.submit(work, item))
            yield ready
        for last in coming:
            yield last.result()
