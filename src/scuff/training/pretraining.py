"""Pretraining on perturbed text, before fine-tuning (the thesis, 3.4.2 and 3.4.3): PLM restores the clean text, PP is masked
language modelling on perturbed text. `pretrain` is the door; its folder is a `start` for `fine_tune`.

PLM: the network reads the perturbed text and predicts, at each of its pieces, the clean piece that stands there; the loss is the
cross entropy over all pieces, changed or not. The thesis does not say what happens where both texts have different numbers of
pieces. Here characters are aligned by the fewest edits, and a piece has to predict the clean piece that its middle character
comes from. So all pieces of a word that fell apart predict the one piece that it was; clean pieces that no piece is left of (in
words that became shorter) are not asked for; and pieces that come from nothing predict nothing.

PP: 15 % of the pieces of the perturbed text are hidden (of these, 80 % by the mask, 10 % by any piece, 10 % not at all), and
the network predicts them as they stand in the perturbed text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ..data.dataset import Dataset
from ..perturbations.base import Perturbation
from ..specs import check_count
from .feeds import Mixed
from .mixtures import Mixture
from .schedule import Schedule, settled
from .trainer import CHECKPOINT_SECONDS, RATE, WIDTH, check_folder, check_libraries, check_limits

METHODS = ("plm", "pp")
DEV_SHARE, MOST_DEV = 0.05, 1000  # share and number of the texts that are the dev part, if the user has none


def usual_schedule(width: int) -> Schedule:
    """For an encoder with vectors of so many numbers."""
    return Schedule(rate=2 * RATE * WIDTH / width, epochs=10, batch_tokens=4096, smoothing=0.0, patience=3)


def pretrain(
    start: str | Path,
    texts: Dataset | Sequence[str],
    out: str | Path,
    *,
    method: str = "plm",
    perturbations: Mixture | str | Perturbation | Sequence[object] = "all",
    dev: Dataset | Sequence[str] | None = None,
    schedule: Schedule | Mapping[str, Any] | None = None,
    device: str = "auto",
    seed: int = 0,
    seconds: float | None = None,
    keep: bool = False,
    show: Callable[[dict[str, Any]], None] | None = None,
    max_length: int | None = None,
    fresh: bool = True,
    checkpoint_seconds: float | None = CHECKPOINT_SECONDS,
) -> dict[str, Any]:
    """Trains an encoder on perturbed texts and writes its folder; returns metrics.json, the last of its files.

    start: folder or id of an encoder; if it has no head for masked language modelling, it gets one, whose output vectors are
    those of its input. A classifier's head is dropped: `fine_tune` puts a new one on the result. texts: all text columns of a
    data set, or texts; each distinct one once. method: plm or pp. perturbations: a mixture, as `Mixture.of` reads it; `all` is
    Zéroe's ten at low, mid and high, in equal parts. dev: texts that choose the best epoch; by default 5 % of the texts, which
    are not learnt from then. fresh: other noise in each epoch (the thesis has the same 40,000 texts for 300 epochs). The rest is
    as for `fine_tune`; by default there are up to 10 epochs of batches of 4,096 tokens.
    """
    began = time.perf_counter()
    if method not in METHODS:
        raise ValueError(f"expected one of {', '.join(METHODS)} for method, got {method!r}")
    check_count(seed, 0, "seed")
    check_limits(seconds, checkpoint_seconds, max_length)
    learnt, held = _parts(texts, dev, seed)
    feeds = [Mixed(part, perturbations, seed=seed, fresh=fresh) for part in (learnt, held)]
    check_libraries()
    check_folder(start, out)
    from .checkpoints import Checkpoints
    from .loop import train
    from .restoration import Restoration, open_masked

    opened = open_masked(start, seed=seed, device=device, max_length=max_length, places=method == "plm")
    schedule = settled(schedule, usual_schedule(opened.width))
    settings = {
        "start": opened.identity, "method": method, "feed": feeds[0].identity,
        "dev": feeds[1].identity, "schedule": asdict(schedule), "seed": seed, "seconds": seconds, "max_length": opened.max_length,
        "device": opened.device.type,
    }  # fmt: skip
    return train(
        opened, lambda: Restoration(opened, feeds[0], feeds[1], schedule, method, seed), schedule,
        Checkpoints(out, settings, checkpoint_seconds, keep),
        {"start": str(start), "texts": len(learnt), "dev_texts": len(held), "new_head": opened.new_head},
        seed=seed, seconds=seconds, show=show, began=began,
    )  # fmt: skip


def _parts(texts: Dataset | Sequence[str], dev: Dataset | Sequence[str] | None, seed: int) -> tuple[Dataset, Dataset]:
    """The texts to learn from, and those of the dev part, which are none of them. Raises ValueError if there are too few."""
    learnt = _distinct(texts)
    if dev is None:
        count = min(MOST_DEV, max(1, round(DEV_SHARE * len(learnt))))
        if len(learnt) < 2:
            raise ValueError(f"expected two or more texts to pretrain on, got {len(learnt)}")
        order = learnt.ranked(seed)
        return learnt.take(np.sort(order[count:])), learnt.take(np.sort(order[:count]))
    held = _distinct(dev)
    known = set(held.columns[0])
    learnt = learnt.take(np.array([at for at, text in enumerate(learnt.columns[0]) if text not in known], np.int64))
    if not len(learnt) or not len(held):
        raise ValueError(f"expected texts to pretrain on and others for dev, got {len(learnt)} and {len(held)}")
    return learnt, held


def _distinct(texts: Dataset | Sequence[str]) -> Dataset:
    """Texts, each once and none of them empty, as data without answers; ids are the texts, so that chance depends on them."""
    if isinstance(texts, str):
        raise ValueError("expected a list of texts or a data set to pretrain on, got one text")
    given = texts.strings() if isinstance(texts, Dataset) else texts
    each = tuple(text for text in dict.fromkeys(given) if text.strip())
    return Dataset("texts", "text", (each,), ("",) * len(each), each)
