"""Works ahead: while one result is used, threads work on the next ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(work: Callable[[Item], Result], items: Sequence[Item], threads: int = 1) -> Iterator[Result]:
    """Yields what `work` returns for each item, in their order; so many threads work on the next ones meanwhile.

    That is faster if the work releases the GIL, as decompressing does, and as the tokenizers of Hugging Face do.
    """
    if len(items) < 2:
        yield from map(work, items)
        return
    from concurrent.futures import ThreadPoolExecutor  # here: many commands need no threads

    with ThreadPoolExecutor(threads) as pool:
        coming: deque[Future[Result]] = deque()
        for item in items:
            coming.append(pool.submit(work, item))
            if len(coming) > threads:
                yield coming.popleft().result()
        while coming:
            yield coming.popleft().result()
