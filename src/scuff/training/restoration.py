"""Encoders with a head that predicts pieces, and what it is to predict: clean pieces (PLM) or hidden ones (PP)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from torch.nn import functional as F

from ..data.dataset import Dataset
from ..huggingface.loading import BadModel, find_source, place
from ..metrics.edit import came_from
from ..text.ragged import Ints, Mask, spread
from ..victims.huggingface import longest
from .batching import Cutter, Row, token_batches
from .feeds import Mixed
from .loop import Epoch, Inputs
from .networks import IGNORED, Network, check_encoder, opening
from .schedule import Schedule

HIDDEN = 0.15  # the share of pieces that are hidden
MASKED, REPLACED = 0.8, 0.9  # of these, up to 0.8 by the mask, from there up to 0.9 by any piece


@dataclass(eq=False)
class Masked(Network):
    """A network that predicts pieces. rest: weights of the encoder that it does not use. new_head: it was made here."""

    rest: dict[str, Any]
    new_head: bool

    def state(self) -> dict[str, Any]:
        """The weights of the network, and those that it does not use, such as BERT's pooler, so that fine-tuning finds them."""
        return {**super().state(), **self.rest}


def open_masked(start: str | Path, *, seed: int, device: str, max_length: int | None, places: bool) -> Masked:
    """Opens an encoder; without a head for masked language modelling, it gets one. Raises BadModel if there is none for it.

    places: the tokenizer has to tell where in the text a piece stands.
    """
    where, source = place(device), find_source(str(start))
    options = {"dtype": torch.float32, "output_loading_info": True}
    with opening(start, where, seed, "an encoder for masked language modelling"):
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
        config = transformers.AutoConfig.from_pretrained(source)
        config.tie_word_embeddings = True  # the output vectors of a new head are those of the input
        model, info = transformers.AutoModelForMaskedLM.from_pretrained(source, config=config, **options)
        encoder, lacks = transformers.AutoModel.from_pretrained(source, **options)
    check_encoder(model, info["missing_keys"], start)
    if tokenizer.mask_token_id is None:
        raise BadModel(f"expected a tokenizer with a mask for {start}, got one without")
    if places and not tokenizer.is_fast:
        raise BadModel(f"expected a fast tokenizer for method plm, got {type(tokenizer).__name__} from {start}")
    used = model.base_model.state_dict()
    rest = {
        f"{model.base_model_prefix}.{name}": value
        for name, value in encoder.state_dict().items()
        if name not in used and name not in lacks["missing_keys"]
    }
    limit = longest(model, tokenizer, max_length, str(start))
    return Masked(source, model.to(where), tokenizer, limit, where, rest, bool(info["missing_keys"]))


class Restoration:
    """Predicts pieces. method: plm, the clean pieces of a perturbed text; pp, hidden pieces of it.

    The dev part is perturbed in the same way, always alike. Its score is the share of pieces that are predicted; `changed` that
    of the pieces which differ from what stands there.
    """

    metric = "accuracy"

    def __init__(self, opened: Masked, feed: Mixed, dev: Mixed, schedule: Schedule, method: str, seed: int) -> None:
        self.opened, self.feed, self.schedule, self.method, self.seed = opened, feed, schedule, method, seed
        self.special = marks(opened.tokenizer)
        self.cutters = {"noisy": self._cutter(), "clean": self._cutter()}  # clean texts come again in each epoch
        self.dev, self.dev_length = self._rows(dev.data, dev.epoch(0), -1)

    def _cutter(self) -> Cutter:
        return Cutter(self.opened.tokenizer, self.opened.max_length, places=self.method == "plm")

    def epoch(self, number: int, step: int) -> Epoch:
        rows, length = self._rows(self.feed.data, self.feed.epoch(number), number)
        batches = token_batches(length, self.schedule.batch_tokens, np.random.default_rng([self.seed, 0, number]))
        count = sum(int((row["target"] != IGNORED).sum()) for row in rows)
        return Epoch(batches, max(1, count) / len(batches), lambda some: self._take(rows, length, some, step))

    def _rows(self, clean: Dataset, noisy: Dataset, number: int) -> tuple[list[Row], Ints]:
        """Perturbed texts in pieces with what they are to become. number: of the epoch; -1 is the dev part."""
        found = self.cutters["noisy"](noisy.columns)
        if self.method == "plm":
            unknown = self.opened.tokenizer.unk_token_id
            pairs = zip(clean.columns[0], noisy.columns[0], found, self.cutters["clean"](clean.columns), strict=True)
            rows = [restored(str(old), str(new), row, wanted, self.special, unknown) for old, new, row, wanted in pairs]
        else:
            chance = np.random.default_rng([self.seed, 2, number + 1])
            mask, size = self.opened.tokenizer.mask_token_id, len(self.opened.tokenizer)
            rows = [hidden(row, chance, self.special, mask, size) for row in found]
        return rows, np.fromiter((len(row["input_ids"]) for row in rows), np.int64, len(rows))

    def _take(self, rows: list[Row], length: Ints, which: Ints, step: int) -> dict[str, Any]:
        arrays = self.opened.batch([rows[at] for at in which.tolist()], length[which], step)
        # here and not on the device, which would have to be waited for
        row, at = np.nonzero(arrays["target"] != IGNORED)
        return {**arrays, "target": arrays["target"][row, at], "row": row, "at": at}

    def loss(self, model: Any, inputs: Inputs) -> Any:
        logits, target, _ = self._predict(model, inputs)
        return F.cross_entropy(logits, target, reduction="sum", label_smoothing=self.schedule.smoothing)

    def _predict(self, model: Any, inputs: Inputs) -> tuple[Any, Any, Any]:
        """Scores of all pieces where something is to be predicted, what that is, and what stands there."""
        target, row, at = (inputs.pop(name) for name in ("target", "row", "at"))

        def only_targets(_module: Any, _inputs: Any, output: Any) -> Any:
            """The head multiplies by the whole vocabulary, which takes longer than all layers before it."""
            output["last_hidden_state"] = output["last_hidden_state"][row, at][None]
            return output

        hook = model.base_model.register_forward_hook(only_targets)
        try:
            logits = model(**inputs).logits[0].float()
        finally:
            hook.remove()
        return logits, target, inputs["input_ids"][row, at]

    def measure(self, model: Any, run: Callable[[dict[str, Any]], Inputs], step: int) -> dict[str, float]:
        total, right, count, changed, mended = 0.0, 0, 0, 0, 0
        for which in token_batches(self.dev_length, self.schedule.batch_tokens):
            logits, target, stands = self._predict(model, run(self._take(self.dev, self.dev_length, which, step)))
            said, other = logits.argmax(-1) == target, stands != target
            total += float(F.cross_entropy(logits, target, reduction="sum"))
            right, count = right + int(said.sum()), count + len(target)
            changed, mended = changed + int(other.sum()), mended + int((said & other).sum())
        out = {"loss": total / max(1, count), "accuracy": right / max(1, count)}
        return {**out, "changed": mended / changed} if changed else out


def restored(clean: str, noisy: str, row: Row, wanted: Row, special: Mask, unknown: int | None) -> Row:
    """The pieces of a perturbed text with the clean piece that each one has to become; see `pretraining.py`.

    special: which pieces of the vocabulary are marks.
    """
    ids = row["input_ids"].astype(np.int64)
    target = ids if clean == noisy else _aligned(clean, noisy, row, wanted)
    target = np.where(special[ids] & (ids != unknown), IGNORED, target)
    target[special[np.maximum(target, 0)]] = IGNORED  # a clean piece that is unknown, too
    return {**row, "target": target}


def _aligned(clean: str, noisy: str, row: Row, wanted: Row) -> Ints:
    """The number of the clean piece that the middle character of each piece comes from, else of any of its characters."""
    target = np.full(len(row["input_ids"]), IGNORED, np.int64)
    here = np.flatnonzero((row["side"] >= 0) & (row["end"] > row["begin"]))
    real = np.flatnonzero((wanted["side"] >= 0) & (wanted["end"] > wanted["begin"]))
    if not here.size or not real.size:
        return target
    # what lies behind the last piece, since long texts are cut, has nothing to align
    clean, noisy = clean[: int(wanted["end"].max())], noisy[: int(row["end"].max())]
    start, size = wanted["begin"][real].astype(np.int64), (wanted["end"] - wanted["begin"])[real].astype(np.int64)
    # of each clean character; the last entry is for what comes from nothing
    piece = np.full(len(clean) + 1, -1, np.int64)
    piece[spread(start, size)] = np.repeat(real, size)
    of_character = piece[came_from(clean, noisy)]
    begin, end = row["begin"][here], row["end"][here]
    source = of_character[(begin + end - 1) // 2]
    for at in np.flatnonzero(source < 0).tolist():
        source[at] = of_character[begin[at] : end[at]].max()
    target[here] = np.where(source >= 0, wanted["input_ids"][source], IGNORED)
    return target


def hidden(row: Row, chance: np.random.Generator, special: Mask, mask: int, size: int) -> Row:
    """The pieces of a text, some of them hidden, and those as what has to be predicted; at least one, if there is any."""
    ids = row["input_ids"].astype(np.int64)
    draw, how, other = chance.random(len(ids)), chance.random(len(ids)), chance.integers(size, size=len(ids))
    able = ~special[ids]
    draw[~able] = 2
    chosen = able & ((draw < HIDDEN) | (draw == draw.min(initial=2)))
    new = np.where(how < MASKED, mask, np.where(how < REPLACED, other, ids))
    return {**row, "input_ids": np.where(chosen, new, ids), "target": np.where(chosen, ids, IGNORED)}


def marks(tokenizer: Any) -> Mask:
    """Which pieces of the vocabulary are marks, such as [CLS] and [UNK], and no text."""
    special = np.zeros(1 + max(tokenizer.get_vocab().values()), np.bool_)  # numbers may be left out
    special[tokenizer.all_special_ids] = True
    return special
