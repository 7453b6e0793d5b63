"""Models of Hugging Face: by folder or id, or as a pipeline that the user has built."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..neural import loading
from ..neural.library import BadModel, libraries, weights_digest
from ..text.dataset import TASKS, Task
from .network import Transformer

__all__ = ["Transformer", "load", "of_pipeline"]

HEADS: dict[Task, tuple[str, str]] = {  # the class that loads a model, and for people what it was trained to do
    "single": ("SequenceClassification", "sequence classification"),
    "multi": ("SequenceClassification", "sequence classification"),
    "tokens": ("TokenClassification", "token classification"),
    "text": ("Seq2SeqLM", "text-to-text generation"),
}
CLASSIFIERS = ("ForSequenceClassification", "ForTokenClassification")


def load(
    name: str | Path,
    task: Task,
    *,
    labels: Sequence[str] | None = None,
    device: str = "auto",
    batch_tokens: int | None = None,
    max_length: int | None = None,
    threads: int | None = None,
    dtype: str | None = None,
    revision: str | None = None,
    num_beams: int = 1,
    max_new_tokens: int = 128,
    prefix: str = "",
) -> Transformer:
    """Open a folder, or download a model by its id. No code that comes with a model is run.

    labels: names of the model's classes in its order, where its own do not suit. device: auto, cpu, cuda, cuda:1, mps.
    threads: how many torch may use in this process. dtype: float16 or bfloat16 make a GPU several times as fast; by default what
    the model was saved as there, and float32 elsewhere. revision: a branch, tag or commit. The rest is explained at Transformer.
    """
    head, purpose = _head(task)
    wanted = f"a model fine-tuned for {purpose}"
    torch, _ = libraries()
    if threads is not None:
        torch.set_num_threads(threads)

    def check(config: Any) -> None:
        for said in config.architectures or []:
            if said.endswith(CLASSIFIERS):  # both load as the other; what else is wrong shows in the weights
                _check_head(said, task, str(name))
        if task == "tokens" and (said := getattr(config, "problem_type", None)):  # set by training on whole texts
            raise BadModel(f"expected {wanted}, got {name}, trained for {said}")

    loaded = loading.load(
        name, f"AutoModelFor{head}", wanted, device=device, revision=revision, dtype=dtype, check=check,
        spaced=task == "tokens",
    )  # fmt: skip
    model = loaded.model
    victim = Transformer(
        model, loaded.tokenizer, task, name=loaded.name, labels=labels, batch_tokens=batch_tokens, max_length=max_length,
        num_beams=num_beams, max_new_tokens=max_new_tokens, prefix=prefix, digest=lambda: loaded.digest,
    )  # fmt: skip
    if model.config.pad_token_id is None:
        model.config.pad_token_id = victim.pad  # classifiers that look for the last piece need to know
    victim.sees_through_files = model.device.type in ("cpu", "cuda")  # each worker opens it for itself
    if model.device.type == "cuda":
        victim.cases_at_once = 1 << 16  # a few seconds of work
    return victim


def of_pipeline(
    pipeline: Any,
    task: Task,
    *,
    labels: Sequence[str] | None = None,
    batch_tokens: int | None = None,
    max_length: int | None = None,
    num_beams: int = 1,
    max_new_tokens: int = 128,
    prefix: str = "",
) -> Transformer:
    """Take a pipeline's model and tokenizer as they are and where they are; a model in training trains on after a call.

    Options of the pipeline itself (top_k, function_to_apply and so on) mean nothing here.
    """
    _head(task)
    libraries()
    model, tokenizer = pipeline.model, pipeline.tokenizer
    name = str(getattr(model, "name_or_path", "") or type(model).__name__)
    if tokenizer is None:
        raise BadModel(f"expected a pipeline with a tokenizer, got one of {name} without")
    purpose = str(getattr(pipeline, "task", "") or "")
    if purpose.startswith("zero-shot"):
        raise BadModel(
            f"expected a pipeline whose model knows its labels, got {purpose}; pass a function that calls it"
        )
    if type(model).__module__.startswith("transformers."):  # a class of the user's may have any name
        _check_head(type(model).__name__, task, name)
    return Transformer(
        model, tokenizer, task, name=name, labels=labels, batch_tokens=batch_tokens, max_length=max_length,
        num_beams=num_beams, max_new_tokens=max_new_tokens, prefix=prefix,
        digest=lambda: f"{weights_digest(model, name)}:{len(tokenizer)}",
    )  # fmt: skip


def _head(task: Task) -> tuple[str, str]:
    if task not in HEADS:
        raise BadModel(f"expected one of {', '.join(TASKS)} for task, got {task!r}")
    return HEADS[task]


def _check_head(said: str, task: Task, name: str) -> None:
    """Refuse a model whose class was made for another task."""
    made = "Seq2SeqLM" if said.endswith(("ForConditionalGeneration", "MTModel")) else said
    if HEADS[task][0] not in made:
        raise BadModel(f"expected a model fine-tuned for {HEADS[task][1]}, got {name}, a {said}")
