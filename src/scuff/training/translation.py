"""Trains translators, plainly or adversarially (Michel et al. 2019, section 5), into a folder that attacks open as a victim.

Built for many small trainings on one GPU: texts stay on the device, batches are full and of one length, no step waits for the
device. The adversarial sources of AHEAD batches are made in one pass, since on a GPU a wide pass takes hardly longer than a
narrow one; they are up to AHEAD - 1 updates old when they are used.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_

from ..huggingface.loading import place
from ..specs import check_count, check_positive
from ..text.ragged import Ints
from ..translators.network import Batch, Sizes, nll, padded
from ..translators.translator import NETWORKS, SIZES, Translator, learn_vocabulary
from ..translators.vocabulary import LEARNERS
from .adversarial import KINDS, AdversarialSources, sent
from .schedule import Schedule, stale

Pairs = Sequence[tuple[str, str]]  # source and target

SUBSTITUTIONS = 3  # in an adversarial source, as in the paper
AHEAD = {"cuda": 4, "cpu": 1}  # batches whose adversarial sources are made at once


SCHEDULES = {"lstm": Schedule(), "transformer": Schedule(epochs=24)}


def train_translator(
    pairs: Pairs,
    dev: Pairs,
    out: str | Path,
    *,
    architecture: str = "lstm",
    pieces: str = "words",
    adversarial: str | None = None,
    alpha: float | None = None,
    substitutions: int | None = None,
    device: str = "auto",
    seed: int = 0,
    seconds: float | None = None,
    test: Pairs = (),
    sizes: Sizes | None = None,
    schedule: Schedule | None = None,
    vocabulary: int | None = None,
    show: Callable[[dict[str, Any]], None] | None = None,
) -> dict[str, Any]:
    """Trains a translator and writes its folder; returns what it writes as metrics.json there, the last of its files.

    architecture: lstm or transformer. pieces: words or bpe. adversarial: vocabulary (Unconstrained) or swaps (CharSwap); then the
    loss is (1 - alpha) NLL(x, y) + alpha NLL(x_adv, y), alpha 1 unless given, with so many substitutions (3) in x_adv.
    dev: chooses the best epoch. test: measured once, at the end. seconds: of training; after the first epoch, as many more are
    planned as fit. vocabulary: words, or operations of BPE. show: called with the metrics of each epoch. Same seed, same bytes on
    a CPU; a GPU may round otherwise.
    """
    _check(pairs, dev, architecture, pieces, adversarial, alpha, substitutions)
    check_count(seed, 0, "seed")
    if seconds is not None:
        check_positive(seconds, "seconds")
    alpha, substitutions = alpha or 1.0, substitutions or SUBSTITUTIONS
    began, where = time.perf_counter(), place(device)
    sizes, schedule = sizes or SIZES[architecture], schedule or SCHEDULES[architecture]
    settings = {
        "architecture": architecture, "pieces": pieces, "adversarial": adversarial, "alpha": alpha if adversarial else None,
        "substitutions": substitutions if adversarial else None, "seed": seed, "sizes": asdict(sizes),
        "schedule": asdict(schedule), "device": where.type, "sentences": len(pairs),
    }  # fmt: skip
    devices = [where] if where.type == "cuda" else []
    with torch.random.fork_rng(devices), fast_products():
        torch.manual_seed(seed)
        texts, targets = [list(side) for side in zip(*pairs, strict=True)]
        translator = Translator.build(
            architecture, sizes, learn_vocabulary(texts, pieces, joined=False, size=vocabulary),
            learn_vocabulary(targets, pieces, joined=True, size=vocabulary), device=where,
        )  # fmt: skip
        training = Training(translator, schedule, pairs, dev, adversarial, alpha, substitutions, seed)
        epochs = training.run(seconds, show)
    translator.network.eval()
    best = max(epochs, key=lambda epoch: epoch["chrf"])
    metrics = {
        "settings": settings, "vocabulary": {"source": len(translator.source), "target": len(translator.target)},
        "weights": sum(weight.numel() for weight in translator.network.parameters()), "epochs": epochs,
        "dev": {name: best[name] for name in ("epoch", "loss", "chrf")},
        "test": score(translator, test) if test else None,
        "seconds": {
            "all": time.perf_counter() - began, "training": sum(epoch["seconds"] for epoch in epochs),
        },
    }  # fmt: skip
    translator.save(out)
    (Path(out) / "metrics.json").write_text(json.dumps(metrics, indent=1) + "\n", encoding="utf-8")
    return metrics


def score(translator: Translator, pairs: Pairs) -> dict[str, Any]:
    """Corpus BLEU (sacrebleu's international tokens, as in the paper; and in lower case, as published for Multi30k) and chrF."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    found = translator.translate([source for source, _ in pairs])
    references = [[target for _, target in pairs]]
    out = {}
    for name, metric in (
        ("bleu", BLEU(tokenize="intl", force=True)),
        ("bleu_lowercase", BLEU(lowercase=True, force=True)),
        ("chrf", CHRF()),
    ):
        out[name] = metric.corpus_score(found, references).score
        out[f"{name}_signature"] = str(metric.get_signature())
    return out


def _check(
    pairs: Pairs, dev: Pairs, architecture: str, pieces: str, adversarial: str | None, alpha: float | None,
    substitutions: int | None,
) -> None:  # fmt: skip
    """Raises ValueError, and nothing is trained."""
    for name, value, known in (
        ("architecture", architecture, NETWORKS), ("pieces", pieces, LEARNERS), ("adversarial", adversarial, (None, *KINDS)),
    ):  # fmt: skip
        if value not in known:
            raise ValueError(f"expected one of {', '.join(map(str, known))} for {name}, got {value!r}")
    for name, option in (("alpha", alpha), ("substitutions", substitutions)):
        if option is not None and adversarial is None:
            raise ValueError(f"expected {' or '.join(KINDS)} for adversarial, since {name} is {option!r}, got None")
    if substitutions is not None:
        check_count(substitutions, 1, "substitutions")
    if alpha is not None and not 0 < alpha <= 1:
        raise ValueError(f"expected a number above 0 and up to 1 for alpha, got {alpha}")
    if not pairs or not dev:
        raise ValueError(f"expected pairs to train on and a dev part, got {len(pairs)} and {len(dev)}")


class Corpus:
    """Pairs of texts on the device: padded rows, cut to the width of a batch when it is taken."""

    def __init__(self, translator: Translator, pairs: Pairs) -> None:
        self.texts = [source for source, _ in pairs]
        self.rows = translator.rows(self.texts)
        target = [row.ids for row in translator.target.rows([target for _, target in pairs])]
        self.length = np.array([len(row.ids) + 1 for row in self.rows])
        self.wanted = np.array([len(row) + 1 for row in target])
        self.source = torch.from_numpy(padded([row.ids for row in self.rows])).to(translator.device)
        self.target = torch.from_numpy(padded(target, begin=True)).to(translator.device)

    def batches(self, tokens: int, chance: np.random.Generator | None = None) -> list[Ints]:
        """Row numbers of batches of similar lengths, the longest source first in each; chance: shuffles."""
        tie = chance.permutation(len(self.length)) if chance else np.arange(len(self.length))
        order = np.lexsort((tie, -self.wanted, -self.length))
        width = np.maximum(self.length, self.wanted)[order]
        out, at = [], 0
        while at < len(order):
            # the first row that would not fit: widths are nearly sorted, so the widest so far decides
            widest = np.maximum.accumulate(width[at : at + tokens])
            fits = int((widest * np.arange(1, len(widest) + 1) <= tokens).sum())
            out.append(order[at : at + max(1, fits)])
            at += len(out[-1])
        return [out[at] for at in chance.permutation(len(out))] if chance else out

    def take(self, rows: Ints, index: Any) -> tuple[Batch, Any]:
        """A batch and its targets. index: `rows` on the device."""
        batch = Batch(self.source[index, : int(self.length[rows].max())], torch.from_numpy(self.length[rows]))
        return batch, self.target[index, : int(self.wanted[rows].max()) + 1]


class Training:
    """One training: `run` trains and leaves the best weights in the translator."""

    def __init__(
        self, translator: Translator, schedule: Schedule, pairs: Pairs, dev: Pairs, adversarial: str | None, alpha: float,
        substitutions: int, seed: int,
    ) -> None:  # fmt: skip
        self.translator, self.network, self.schedule = translator, translator.network, schedule
        self.corpus, self.dev, self.dev_corpus = Corpus(translator, pairs), dev, Corpus(translator, dev)
        self.alpha, self.seed, self.cuda = alpha, seed, translator.device.type == "cuda"
        self.adversarial = None
        if adversarial:
            self.adversarial = AdversarialSources(
                translator, adversarial, substitutions, texts=self.corpus.texts, rows=self.corpus.rows, seed=seed
            )
        betas = (0.9, 0.98) if translator.architecture == "transformer" else (0.9, 0.999)
        # fused: one kernel for all weights
        self.optimizer = torch.optim.Adam(self.network.parameters(), schedule.rate, betas, fused=self.cuda)

    def run(self, seconds: float | None, show: Callable[[dict[str, Any]], None] | None) -> list[dict[str, Any]]:
        """Returns the metrics of each epoch."""
        began, planned, done = time.perf_counter(), self.schedule.epochs, []
        best, kept = -1.0, {}
        for epoch in range(self.schedule.epochs):
            start = time.perf_counter()
            loss = self.epoch(epoch, planned)
            taken = time.perf_counter() - start
            done.append({"epoch": epoch + 1, "seconds": taken, "train_loss": loss, **self.measure()})
            if show:
                show(done[-1])
            if done[-1]["chrf"] > best:
                best = done[-1]["chrf"]
                kept = {name: value.detach().clone() for name, value in self.network.state_dict().items()}
            elapsed = time.perf_counter() - began
            if seconds and epoch == 0:
                planned = min(planned, max(1, int(seconds / elapsed)))
            worse = stale([each["chrf"] for each in done], [each["loss"] for each in done])
            if epoch + 1 >= planned or worse >= self.schedule.patience or (seconds and elapsed > seconds):
                break
        self.network.load_state_dict(kept)
        return done

    def epoch(self, epoch: int, planned: int) -> float:
        """Trains on every pair once; returns the mean loss of a target piece."""
        batches = self.corpus.batches(self.schedule.batch_tokens, np.random.default_rng([self.seed, 0, epoch]))
        self.network.train()
        total = torch.zeros((), device=self.translator.device)
        for step, (batch, target, weight, pieces) in enumerate(self.inputs(batches)):
            rate = self.schedule.at((epoch + (step + 0.5) / len(batches)) / planned)
            for group in self.optimizer.param_groups:
                group["lr"] = rate
            total += self.step(batch, target, weight, pieces)
        return float(total) / int(self.corpus.wanted.sum())

    def step(self, batch: Batch, target: Any, weight: Any, pieces: int) -> Any:
        """One update; returns the loss, which stays on the device. weight: of each row. pieces: of the target, counted once."""
        logits = self.network(self.network.embed(batch.ids), batch, target[:, :-1])
        loss = nll(logits, target[:, 1:], self.schedule.smoothing)
        loss = (loss if weight is None else loss * weight).sum()
        self.optimizer.zero_grad(set_to_none=True)
        (loss / pieces).backward()
        clip_grad_norm_(self.network.parameters(), self.schedule.clip)
        self.optimizer.step()
        return loss.detach()

    def inputs(self, batches: list[Ints]) -> Iterator[tuple[Batch, Any, Any, int]]:
        """What each step takes: sources, targets, the weight of each row (None: 1), and the number of target pieces."""
        corpus, ahead = self.corpus, AHEAD["cuda" if self.cuda else "cpu"] if self.adversarial else 1
        batches = self.grouped(batches, ahead) if ahead > 1 else batches
        # copied at once: a copy for each step would wait for the device
        index = torch.from_numpy(np.concatenate(batches)).to(self.translator.device)
        at = 0
        for group in range(0, len(batches), ahead):
            members = batches[group : group + ahead]
            sizes = [len(rows) for rows in members]
            here = index[at : at + sum(sizes)]
            at += sum(sizes)
            parts = torch.split(here, sizes)
            if self.adversarial is None:
                yield (*corpus.take(members[0], here), None, int(corpus.wanted[members[0]].sum()))
                continue
            for rows, part, changed in zip(members, parts, self.changed(members, here), strict=True):
                batch, target = corpus.take(rows, part)
                yield (*self.mixed(batch, target, changed), int(corpus.wanted[rows].sum()))

    def grouped(self, batches: list[Ints], ahead: int) -> list[Ints]:
        """Shuffled batches in an order in which `ahead` neighbours are of similar lengths: they become one pass."""
        out, window, chance = [], ahead * ahead, np.random.default_rng([self.seed, 1])
        for at in range(0, len(batches), window):
            near = sorted(batches[at : at + window], key=lambda rows: self.corpus.length[rows[0]])
            groups = [near[start : start + ahead] for start in range(0, len(near), ahead)]
            if len(groups[-1]) == ahead:  # else the short one stays the last
                groups = [groups[index] for index in chance.permutation(len(groups))]
            out += [rows for group in groups for rows in group]
        return out

    def changed(self, members: list[Ints], index: Any) -> Iterator[Batch | list[Ints]]:
        """The adversarial sources of batches, made in one pass: as batches, or as rows where the lengths change."""
        assert self.adversarial is not None
        rows = np.concatenate(members)
        order = np.argsort(-self.corpus.length[rows], kind="stable")
        back = np.argsort(order)
        both = sent(np.stack((order, back)), self.translator.device)
        batch, target = self.corpus.take(rows[order], index[both[0]])
        chosen, piece = self.adversarial.places(batch, target, self.corpus.wanted[rows[order]])
        spliced = None
        if self.adversarial.resegment is not None:
            spliced = self.adversarial.resegment.splice(rows[order], batch.ids.cpu().numpy(), chosen.cpu().numpy())
        ids, at = torch.where(chosen, piece, batch.ids), 0
        for member in members:
            where = slice(at, at + len(member))
            at += len(member)
            if spliced is not None:
                yield [spliced[row] for row in back[where]]
            else:
                length = self.corpus.length[member]
                yield Batch(ids[both[1][where], : int(length.max())], torch.from_numpy(length))

    def mixed(self, batch: Batch, target: Any, changed: Batch | list[Ints]) -> tuple[Batch, Any, Any]:
        """A batch of changed sources, and, unless alpha is 1, of the clean ones beside them; with targets and weights."""
        device = self.translator.device
        if isinstance(changed, list):
            ids = torch.from_numpy(padded(changed)).to(device)
            changed = Batch(ids, torch.tensor([len(row) + 1 for row in changed]))
        if self.alpha == 1:
            lengths, ids = changed.lengths, changed.ids
        else:
            width = max(batch.ids.shape[1], changed.ids.shape[1])
            ids = torch.cat([_widened(part.ids, width) for part in (batch, changed)])
            lengths = torch.cat((batch.lengths, changed.lengths))
        order = torch.sort(lengths, descending=True, stable=True).indices
        which = sent(order.numpy(), device)
        weight = torch.where(which < len(batch.lengths), 1 - self.alpha, self.alpha) if self.alpha < 1 else None
        return Batch(ids[which], lengths[order]), target[which % len(batch.lengths)], weight

    def measure(self) -> dict[str, float]:
        """Loss of a target piece and chrF on the dev part."""
        from sacrebleu.metrics.chrf import CHRF

        corpus = self.dev_corpus
        total = torch.zeros((), device=self.translator.device)
        with self.network.steady(), torch.no_grad():
            for rows in corpus.batches(4 * self.schedule.batch_tokens):
                batch, target = corpus.take(rows, torch.from_numpy(rows).to(self.translator.device))
                total += nll(self.network(self.network.embed(batch.ids), batch, target[:, :-1]), target[:, 1:]).sum()
        found = self.translator.translate([source for source, _ in self.dev])
        chrf = CHRF().corpus_score(found, [[target for _, target in self.dev]]).score
        return {"loss": float(total) / int(corpus.wanted.sum()), "chrf": float(chrf)}


def _widened(ids: Any, width: int) -> Any:
    return torch.nn.functional.pad(ids, (0, width - ids.shape[1]))  # by PAD, which is 0


@contextmanager
def fast_products() -> Iterator[None]:
    """Products of float32 by tensor cores (TF32) on a GPU: as good for training, and faster."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
