"""The loop that all trainings of Hugging Face networks share: steps, dev part, early stopping, time, log, checkpoints.

What a training learns is its objective's: fine-tuning (`trainer.py`) or pretraining (`pretraining.py`). Chance is a function of
(seed, epoch, step), so a training that was killed goes on as if nothing had happened. No step waits for the device; the next
epoch's texts are made and cut into pieces by a thread meanwhile.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_

from ..huggingface.batches import STEP, is_memory
from ..huggingface.loading import answering, quiet
from ..readahead import ahead
from ..text.ragged import Ints
from .checkpoints import Checkpoints, Tensors
from .networks import Network
from .schedule import Schedule, stale

DECAY = 0.01  # of weights that are matrices
EVERY = {"cuda": 20, "cpu": 5}  # steps of a line in the log; only then a GPU is waited for
PLANS = 10  # how often a training with a limit of time looks at the clock to plan its end

Inputs = dict[str, Any]  # arrays for the network, and what the objective needs beside them


class TrainingFailed(RuntimeError):
    """The training cannot go on, such as when the loss is no number."""

    exit_code = 3  # of the command line: the run failed


@dataclass(frozen=True, eq=False)
class Epoch:
    """The batches of an epoch, and how many targets (examples, tags, pieces) a batch has on average."""

    batches: Sequence[Ints]
    targets: float
    take: Callable[[Ints], dict[str, Any]]  # a batch as NumPy arrays


class Objective(Protocol):
    """What is learnt."""

    metric: str  # the score of the dev part that chooses the best epoch; higher is better

    def epoch(self, number: int, step: int) -> Epoch:
        """Makes an epoch; called by a thread. step: rows are padded to multiples of it."""

    def loss(self, model: Any, inputs: Inputs) -> Any:
        """The sum of the losses of the targets of a batch."""

    def measure(self, model: Any, run: Callable[[dict[str, Any]], Inputs], step: int) -> dict[str, float]:
        """Loss and scores on the dev part. run: brings arrays to the device."""


class Loop:
    """One training: `run` trains and leaves the best weights in the model."""

    def __init__(
        self, model: Any, objective: Objective, schedule: Schedule, checkpoints: Checkpoints, *, seed: int,
        seconds: float | None, show: Callable[[dict[str, Any]], None] | None,
    ) -> None:  # fmt: skip
        self.model, self.objective, self.schedule, self.checkpoints = model, objective, schedule, checkpoints
        self.seed, self.seconds, self.show = seed, seconds, show
        self.device = next(model.parameters()).device
        self.cuda = self.device.type == "cuda"
        self.half = self.cuda and torch.cuda.is_bf16_supported()
        self.pad_step = STEP if self.cuda else 1  # GPUs are faster on rows of such lengths
        self.every = EVERY["cuda" if self.cuda else "cpu"]
        tuned = [weight for weight in model.parameters() if weight.requires_grad]
        groups = [
            {"params": [weight for weight in tuned if weight.ndim > 1], "weight_decay": DECAY},
            {"params": [weight for weight in tuned if weight.ndim < 2], "weight_decay": 0.0},
        ]
        self.tuned = tuned
        self.optimizer = torch.optim.AdamW(groups, schedule.rate, fused=self.cuda)
        self.epochs: list[dict[str, Any]] = []
        self.best: Tensors = {}
        self.first, self.done = 0, 0  # the epoch and the batch to begin with
        self.steps, self.lines = 0, 0  # all steps so far, and lines of the log
        self.spent, self.planned, self.resumed = 0.0, float(schedule.epochs), 0
        self.pace: tuple[float, float] | tuple[()] = ()  # epochs and seconds after the first step of this process
        self.stopped = ""
        self.sums: list[Any] = []  # losses since the last line of the log, on the device
        self.part: dict[str, float] = {}  # of the epoch so far

    # ---- the steps ----

    def run(self) -> list[dict[str, Any]]:
        """Returns what the dev part said after each epoch. Raises TrainingFailed if the loss is no number."""
        self._restore()
        self.began = time.perf_counter() - self.spent
        devices = [self.device] if self.cuda else []
        with torch.random.fork_rng(devices), quiet():
            numbers = range(self.first, self.schedule.epochs)
            made: Any = ahead(lambda number: self.objective.epoch(number, self.pad_step), numbers)
            with closing(made):
                for number, epoch in zip(numbers, made, strict=False):
                    if self.stopped:
                        break
                    self._epoch(number, epoch)
                    if self.stopped:
                        break
        self.stopped = self.stopped or "epochs"
        self.model.load_state_dict(self.best)
        self.model.eval()
        self.spent = time.perf_counter() - self.began
        return self.epochs

    def _epoch(self, number: int, epoch: Epoch) -> None:
        """Trains on an epoch from batch `done` on, and measures the dev part."""
        self.model.train()
        count = len(epoch.batches)
        start = time.perf_counter()
        for at in range(self.done, count):
            self._step(number, at, epoch)
            self.done, self.steps = at + 1, self.steps + 1
            if self.steps % self.every == 0:
                self._line(number, count)
            if self._over(number + self.done / count):
                self.stopped = "seconds"
                break
            if self.done < count and self.checkpoints.due(epoch_ends=False):
                self._save(number)
        self._line(number, count)
        found = self._measure()
        self.epochs.append({
            "epoch": number + 1, "steps": self.steps, "seconds": round(time.perf_counter() - start, 3),
            "train_loss": self.part.get("loss", 0.0) / max(1, self.part.get("steps", 1)), **found,
        })  # fmt: skip
        self.part = {}
        self._log({"step": self.steps, "epoch": round(number + self.done / count, 4), "dev": found})
        if self._is_best():
            self.best = {name: value.detach().clone() for name, value in self.model.state_dict().items()}
        self._stop(number)
        self.first, self.done = number + 1, 0
        if not self.stopped and self.first < self.schedule.epochs and self.checkpoints.due(epoch_ends=True):
            self._save(number + 1)

    def _step(self, number: int, at: int, epoch: Epoch) -> None:
        progress = min(1.0, (number + (at + 0.5) / len(epoch.batches)) / self.planned)
        for group in self.optimizer.param_groups:
            group["lr"] = self.schedule.at(progress)
        torch.manual_seed(int(np.random.SeedSequence([self.seed, 1, number, at]).generate_state(1, np.uint64)[0] >> 1))
        inputs = self._send(epoch.take(epoch.batches[at]))
        try:
            with self._autocast():
                # divided by the targets of a usual batch, not of this one, so that each example counts alike
                loss = self.objective.loss(self.model, inputs) / epoch.targets
            loss.backward()
        except RuntimeError as error:
            if not is_memory(error):
                raise
            tokens = self.schedule.batch_tokens
            raise TrainingFailed(
                f"expected memory for schedule.batch_tokens {tokens}, got too little: lower it"
            ) from None
        clip_grad_norm_(self.tuned, self.schedule.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.sums.append(loss.detach())

    def _autocast(self) -> Any:
        return torch.autocast("cuda", torch.bfloat16) if self.half else nullcontext()

    def _send(self, arrays: dict[str, Any]) -> Inputs:
        """Arrays on the device; on a GPU the copies do not wait for it."""
        if not self.cuda:
            return {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}
        out: Inputs = {}
        shape = arrays["input_ids"].shape
        alike = [name for name, array in arrays.items() if array.shape == shape and array.dtype == np.int64]
        # one copy of small integers, since pinning memory is slow
        pinned = torch.from_numpy(np.stack([arrays[name] for name in alike], dtype=np.int32)).pin_memory()
        out |= zip(alike, pinned.to(self.device, non_blocking=True).long(), strict=True)
        for name in arrays.keys() - out.keys():
            out[name] = torch.from_numpy(arrays[name]).pin_memory().to(self.device, non_blocking=True)
        return out

    def _measure(self) -> dict[str, float]:
        with answering(self.model), self._autocast():
            found = self.objective.measure(self.model, self._send, self.pad_step)
        if not math.isfinite(found["loss"]):
            raise self._diverged(found["loss"], "on the dev part")
        return found

    # ---- when it ends ----

    @property
    def repeats(self) -> str:
        """Whether the same call gives the same weights again, and if not, why."""
        if self.device.type != "cpu":
            return f"about: sums on {self.device.type} are made in changing orders, so the last bits may differ"
        if self.stopped == "seconds" or self.planned < self.schedule.epochs:
            return "no: the limit of time decided when training ended"
        return f"yes: the same bytes on the same machine with {torch.get_num_threads()} threads"

    def _over(self, epochs: float) -> bool:
        """Whether time is over. Now and then plans after how many epochs that will be, so that the rate is 0 by then.

        A training that needs less than its time is the same as one without a limit.
        """
        if self.seconds is None:
            return False
        spent = time.perf_counter() - self.began
        if not self.pace:  # the first step: all before it was preparation, which says nothing about the steps to come
            self.pace = (epochs, spent)
        elif epochs >= self.planned or int(PLANS * spent / self.seconds) > int(PLANS * self.spent / self.seconds):
            each = (spent - self.pace[1]) / (epochs - self.pace[0])
            self.planned = min(float(self.schedule.epochs), epochs + max(0.0, self.seconds - spent) / each)
        self.spent = spent
        return spent >= self.seconds and epochs < self.schedule.epochs

    def _is_best(self) -> bool:
        """Whether the last epoch has the best score so far; of equal scores, the lowest loss."""
        return self._best_epoch() is self.epochs[-1]

    def _best_epoch(self) -> dict[str, Any]:
        return max(self.epochs, key=lambda epoch: (epoch[self.objective.metric], -epoch["loss"]))

    def _stop(self, number: int) -> None:
        worse = stale([epoch[self.objective.metric] for epoch in self.epochs], [epoch["loss"] for epoch in self.epochs])
        if not self.stopped and worse >= self.schedule.patience and number + 1 < self.schedule.epochs:
            self.stopped = "patience"

    def told(self) -> dict[str, Any]:
        """What metrics.json says about how the training went."""
        left_out = ("seconds", "steps", "train_loss")
        return {
            "epochs": self.epochs, "metric": self.objective.metric,
            "dev": {name: value for name, value in self._best_epoch().items() if name not in left_out},
            "steps": self.steps, "stopped": self.stopped, "resumed": self.resumed, "repeats": self.repeats,
        }  # fmt: skip

    # ---- log and checkpoints ----

    def _line(self, number: int, count: int) -> None:
        """Writes the mean loss since the last line."""
        if not self.sums:
            return
        losses = self._losses()
        total, size = sum(losses), len(losses)
        self.sums = []
        self.part = {"loss": self.part.get("loss", 0.0) + total, "steps": self.part.get("steps", 0) + size}
        epochs = number + self.done / count
        progress = min(1.0, (number + (self.done - 0.5) / count) / self.planned)
        self._log(
            {"step": self.steps, "epoch": round(epochs, 4), "loss": total / size, "rate": self.schedule.at(progress)}
        )

    def _losses(self) -> list[float]:
        """The losses since the last line. Raises TrainingFailed if one is no number."""
        losses: list[float] = torch.stack(self.sums).float().tolist() if self.sums else []
        bad = [at for at, loss in enumerate(losses) if not math.isfinite(loss)]
        if bad:
            raise self._diverged(losses[bad[0]], f"in step {self.steps - len(losses) + bad[0] + 1}")
        return losses

    def _diverged(self, loss: float, where: str) -> TrainingFailed:
        rate = self.schedule.rate
        return TrainingFailed(
            f"expected a number for the loss, got {loss} {where}: lower schedule.rate (it is {rate:g})"
        )

    def _log(self, line: dict[str, Any]) -> None:
        spent = time.perf_counter() - self.began
        progress = min(1.0, line["epoch"] / self.planned)
        line = {**line, "progress": round(progress, 4), "seconds": round(spent, 2)}
        self.checkpoints.append(line)
        self.lines += 1
        if self.show:
            self.show(line)

    def _save(self, number: int) -> None:
        """Writes a checkpoint; the next epoch to begin with is `number`, from batch `done` on."""
        pending = self._losses()
        self.checkpoints.write({
            "first": number, "done": self.done, "steps": self.steps, "lines": self.lines, "epochs": self.epochs,
            "spent": time.perf_counter() - self.began, "planned": self.planned, "part": self.part, "pending": pending,
            "resumed": self.resumed,
        }, self._tensors)  # fmt: skip

    def _tensors(self) -> Tensors:
        names = {weight: name for name, weight in self.model.named_parameters()}
        out = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        out |= {f"best/{name}": value for name, value in self.best.items()}
        for weight, state in self.optimizer.state.items():
            out |= {f"optimizer/{names[weight]}/{key}": value for key, value in state.items()}
        return _unshared(out)

    def _restore(self) -> None:
        """Goes on from the last checkpoint, if there is one."""
        found = self.checkpoints.read()
        if found is None:
            return
        told, tensors = found
        self.first, self.done, self.steps, self.lines = (told[name] for name in ("first", "done", "steps", "lines"))
        self.epochs, self.spent, self.planned, self.part = (
            told[name] for name in ("epochs", "spent", "planned", "part")
        )
        self.resumed = told["resumed"] + 1
        self.sums = [torch.tensor(loss, device=self.device) for loss in told["pending"]]
        parts = _parts(tensors)
        self.model.load_state_dict({name: parts["model"][name] for name in self.model.state_dict()})
        self.best = {name: value.to(self.device) for name, value in parts.get("best", {}).items()}
        states: dict[str, Tensors] = {}
        for key, value in parts.get("optimizer", {}).items():
            name, _, kind = key.rpartition("/")
            states.setdefault(name, {})[kind] = value
        for name, weight in self.model.named_parameters():
            if name in states:  # as the optimizer keeps them: its count of steps on the CPU, unless fused
                self.optimizer.state[weight] = {
                    kind: value if kind == "step" and not self.cuda else value.to(self.device)
                    for kind, value in states[name].items()
                }


def train(
    network: Network, objective: Callable[[], Objective], schedule: Schedule, checkpoints: Checkpoints, about: dict[str, Any], *,
    seed: int, seconds: float | None, show: Callable[[dict[str, Any]], None] | None, began: float,
) -> dict[str, Any]:  # fmt: skip
    """Trains a network and writes its folder, unless that was done before. Returns metrics.json, the last of the files.

    objective: makes it, which takes a while. about: what metrics.json says beside the rest. began: when the user's call began.
    """
    if (done := checkpoints.finished()) is not None:
        return done
    loop = Loop(network.model, objective(), schedule, checkpoints, seed=seed, seconds=seconds, show=show)
    loop.run()
    network.save(checkpoints.out)
    metrics = {
        "settings": checkpoints.settings, **about, "weights": network.weights, **loop.told(),
        "seconds": {"all": time.perf_counter() - began, "training": loop.spent},
    }  # fmt: skip
    checkpoints.finish(metrics)
    return metrics


def _unshared(tensors: Tensors) -> Tensors:
    """Tied weights, which safetensors does not write twice, as copies."""
    seen: set[int] = set()
    out = {}
    for name, tensor in tensors.items():
        out[name] = tensor.clone() if tensor.data_ptr() in seen else tensor
        seen.add(tensor.data_ptr())
    return out


def _parts(tensors: Tensors) -> dict[str, Tensors]:
    out: dict[str, Tensors] = {}
    for key, value in tensors.items():
        part, _, name = key.partition("/")
        out.setdefault(part, {})[name] = value
    return out
