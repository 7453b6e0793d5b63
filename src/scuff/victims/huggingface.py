"""Hugging Face models as victims: scores of labels, tags of tokens, or a text for a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..data.dataset import TASKS, Task
from ..huggingface import loading
from ..huggingface.batches import STEP, Batch, EqualPieces, Pieces, Tuner, encode, in_batches
from ..huggingface.cuda import TOKENS, Stream
from ..huggingface.limits import words_read
from ..huggingface.loading import (
    BadModel,
    answering,
    ensure_padding,
    fits_float16,
    libraries,
    padding,
    positions,
    quiet,
    weights_digest,
)
from ..readahead import ahead
from ..specs import some
from ..text.ragged import Floats, Ints, Mask
from .base import GRADIENT_STEPS, Access, Column, Outputs, Spans, Victim, as_objects, sigmoid, softmax
from .gradients import gives_gradients, word_saliency
from .slopes import locate, model_gives_slopes, slopes_of, vocabulary_of
from .substitution import Located, Vocabulary, require_slopes

Item = TypeVar("Item")

Result = TypeVar("Result")
MOST = (1 << 31) - 1  # of a number that an option is; torch takes no larger ones


def label_names(model: Any, count: int, labels: Sequence[str] | None, name: str) -> tuple[str, ...]:
    """The user's names, else the model's own; () if it has only numbers."""
    if labels is not None:
        if len(labels) != count:
            raise BadModel(f"expected {count} labels for {name}, got {len(labels)}: {some(labels)}")
        return tuple(labels)
    if not count:
        return ()
    names = tuple(str(label) for _, label in sorted(model.config.id2label.items()))
    return () if all(re.fullmatch(r"LABEL_\d+", label) for label in names) else names


def check_number(value: Any, option: str, name: str, least: int = 1, most: int | None = None) -> None:
    """Raises BadModel for an option that is no whole number in a range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= (most or MOST):
        wanted = f"{least} to {most}" if most else f"{least} or more"
        raise BadModel(f"expected {wanted} for {option} of {name}, got {value!r}")


def longest(model: Any, tokenizer: Any, wanted: int | None, name: str) -> int:
    """The number of pieces that model and tokenizer take, 512 if neither says; the user may set fewer."""
    known = positions(model)
    if wanted is not None:
        check_number(wanted, "max_length", name, tokenizer.num_special_tokens_to_add(pair=True) + 1, known or None)
        return wanted
    limits = [limit for limit in (known, tokenizer.model_max_length) if 0 < limit < 1 << 30]
    return min(limits, default=512)


def most_new(model: Any, wanted: int) -> int:
    """The number of pieces that a model writes: as many as wanted, as far as its decoder has positions."""
    try:
        decoder = model.get_decoder()
    except (AttributeError, NotImplementedError):
        return wanted
    known = getattr(decoder.config, "max_decoder_position_embeddings", None) or positions(decoder)
    return min(wanted, known or wanted)


# tokens of a batch: sizes to try, and the size to take if there is too little text to try them on
SIZES, OTHERWISE = (512, 1024, 2048, 4096, 8192), 2048
WRITTEN = 65536  # the same on a GPU, for task text

BLOCK_WORK = 1e11  # weights x queries of a block: 4096 queries of MiniLM, 512 of BERT-base
STEP_OF_LOGITS, NOISE = 2.0**-9, 1e-5  # of models with two labels; see Transformer._steadied
USUAL = 8.0  # logits above it have as much more noise
SEEN = 1e-3  # a logit that padding changes by more depends on it, rather than on how sums are rounded
SEEN_IN_EPS = 8  # the same in 16 bits, as a multiple of their precision: BERT's logits differ by about one

AT_ONCE = 2048  # rows that are tokenized while the device works on those before them

Arrays = dict[str, npt.NDArray[Any]]

Answered = list[tuple[Any, Mask]]  # what a model returned for each batch, and where the batch is not padding


def _block(weights: int) -> int:
    """Returns the queries of a block on a CPU, for a model with so many weights: about half a minute of work on a few cores."""
    wanted = BLOCK_WORK / max(1, weights)
    return 1 << int(np.clip(np.log2(max(wanted, 1)), 8, 12))


class Transformer(Victim):
    """A model and its tokenizer, on the device where they are. `load` and `of_pipeline` build one.

    digest: returns a digest of the weights. batch_tokens: rows x longest row of a batch; None tries some sizes at the first call
    that is large enough and keeps the fastest. max_length: pieces of a text that the model sees. num_beams, max_new_tokens and
    prefix (put before every text; T5 needs one) are for task text; no text gets more new tokens than the decoder has positions.
    """

    rows_at_once = 512  # many batches; on a GPU more, see `load`
    _vocabulary: Vocabulary | None = None
    _stream: Stream | None = None

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        task: Task,
        *,
        name: str,
        digest: Callable[[], str],
        labels: Sequence[str] | None = None,
        batch_tokens: int | None = None,
        max_length: int | None = None,
        num_beams: int = 1,
        max_new_tokens: int = 128,
        prefix: str = "",
    ) -> None:
        for option, value in (
            ("batch_tokens", batch_tokens),
            ("num_beams", num_beams),
            ("max_new_tokens", max_new_tokens),
        ):
            if value is not None:
                check_number(value, option, name)
        self.model, self.tokenizer, self.task, self.name = model, tokenizer, task, name
        scores, follows = task in ("single", "multi"), gives_gradients(model, tokenizer)
        self.access = Access.DECISION if not scores else Access.GRADIENT if follows else Access.SCORE
        self.count = 0 if task == "text" else int(model.config.num_labels)  # of labels, with or without names
        self.labels = label_names(model, self.count, labels, name)
        self.mask = str(tokenizer.mask_token or "") if scores else ""
        self.unknown = str(tokenizer.unk_token or self.mask or self.unknown)
        self.batch_tokens, self.max_length = batch_tokens, longest(model, tokenizer, max_length, name)
        self.num_beams, self.prefix, self.reads = num_beams, prefix, words_read(tokenizer, self.max_length)
        self.max_new_tokens = most_new(model, max_new_tokens) if task == "text" else max_new_tokens
        self.cases_at_once = _block(sum(weights.numel() for weights in model.parameters()))
        takes = signature(type(model).forward).parameters
        takes_all = "input_ids" not in takes  # a wrapper that takes **inputs
        # a network may take them from a tokenizer that gives none; to some (GPT-2) zeros are not the same as none
        given = "token_type_ids" in tokenizer.model_input_names
        self.takes_types = task != "text" and given and ("token_type_ids" in takes or takes_all)
        # else places of pieces are those in the row, with its padding
        self.counts_places = tokenizer.padding_side == "left" and task != "text" and "position_ids" in takes
        self._digest = cache(digest)  # reads all weights
        self.gives_slopes = model_gives_slopes(model, tokenizer, task)
        if model.device.type == "cuda":
            self.backend = f"cuda {str(model.dtype).removeprefix('torch.')}"
            self.batch_tokens = batch_tokens or (None if task == "text" else TOKENS)
            self.serves, self.rows_at_once, self.cases_at_once = True, 8192, 1 << 14
        if task == "single" and self.count < 2:
            raise BadModel(f"expected two or more labels for task single, got 1 from {name}: is it a regression?")
        if task == "tokens" and not tokenizer.is_fast:
            raise BadModel(f"expected a fast tokenizer for task tokens, got {type(tokenizer).__name__} from {name}")

    def assume(self, labels: Sequence[str]) -> bool:
        """The numbers of a model without names are its labels, if the labels of the data are numbers, too."""
        numbers = all(label.isdecimal() for label in labels)
        self.labels = tuple(map(str, range(self.count))) if numbers else ()
        return numbers

    @property
    def identity(self) -> str:
        """The digest of the weights, and all that changes the answers. It is read once: after training, open a new victim."""
        about = [self._digest(), self.task, self.max_length, str(self.model.dtype).removeprefix("torch.")]
        about += [self.backend] if self.backend else []
        if self.task == "text":
            about += [self.num_beams, self.max_new_tokens, self.prefix]
        return ":".join(map(str, about))

    def __call__(self, *columns: Column) -> Outputs:
        tokens = self.task == "tokens"
        if len(columns) > (1 if tokens or self.task == "text" else 2):
            raise ValueError(f"expected one column of texts for task {self.task}, got {len(columns)}")
        if not len(columns[0]):
            return Outputs.of(np.empty((0, self.count), np.float32) if self.access >= Access.SCORE else as_objects([]))
        if isinstance(columns[0][0], str) == tokens:
            kinds = ("texts", "texts in tokens")
            raise ValueError(f"expected {kinds[tokens]} for {self.name}, got {kinds[not tokens]}")
        if self.prefix and self.task == "text":
            columns = tuple([f"{self.prefix}{text}" for text in column] for column in columns)
        # while batch_tokens is not known, sizes are tried on all rows together
        size = AT_ONCE if self.batch_tokens else len(columns[0])
        parts = [[column[at : at + size] for column in columns] for at in range(0, len(columns[0]), size)]
        with self.ready():
            pieces = ahead(lambda part: encode(self.tokenizer, part, self.max_length, words=tokens), parts)
            # answers are waited for when the last batch was sent, so that a GPU never waits
            done = [(part, self.send(part)) for part in pieces]
            found = [(part, wait()) for part, wait in done]
        return Outputs.join([self._finish(*some, part) for some, part in zip(found, parts, strict=True)])

    @contextmanager
    def ready(self) -> Iterator[None]:
        """What `send`, and waiting for what it returns, has to be called in."""
        with quiet(), answering(self.model):
            yield

    def send(self, pieces: Pieces) -> Callable[[], Arrays]:
        """Begins to answer rows. Returns a function that waits for the answers, in the order of `pieces`: "logits" of the rows,
        "tags" of all pieces, or the "ids" of all texts that were written and the "length" of each.
        """
        if self.in_shapes:
            kind, stream = "logits" if self.task != "tokens" else "tags", self.stream_for(pieces.texts)
            if len(pieces) > 1 or stream.busy:
                asked = stream.ask(pieces)
                stream.send()
                return lambda: {kind: stream.finish(asked)}
            # BART and T5 raise if a text has more marks of the end than others of a batch, such as empty ones: it is asked alone
            with suppress(Exception):
                answer = stream.finish(stream.ask(pieces))
                return lambda: {kind: answer}
        found = self._run(pieces, {"text": self._write, "tokens": self._tag}.get(self.task, self._score))
        return lambda: self._gathered(pieces, found)

    def saliency(
        self,
        *columns: Column,
        side: int,
        words: Sequence[Spans],
        weights: Floats,
        steps: int = GRADIENT_STEPS,
        norm: str | None = None,
    ) -> list[Floats]:
        if self.access < Access.GRADIENT:
            return super().saliency(*columns, side=side, words=words, weights=weights)
        return word_saliency(self, columns, side, words, weights, steps, norm)

    def vocabulary(self) -> Vocabulary:
        if self._vocabulary is None:
            self._vocabulary = vocabulary_of(self.model, self.tokenizer)
        return self._vocabulary

    def located(self, texts: Column) -> list[Located]:
        return locate(self, texts)

    def slopes(self, texts: Column, targets: Sequence[Any]) -> list[Floats]:
        require_slopes(self, "slopes")
        return slopes_of(self, texts, targets)

    def settle(self) -> None:
        self.batch_tokens = self.usual_tokens

    @property
    def usual_tokens(self) -> int:
        """Tokens of a batch, if no sizes were tried."""
        return self.batch_tokens or (WRITTEN if self.model.device.type == "cuda" else OTHERWISE)

    @property
    def in_shapes(self) -> bool:
        """Whether rows are answered in batches of fixed shapes. Texts are not: how long it takes to write one is not known."""
        return self.model.device.type == "cuda" and self.task != "text"

    @property
    def stream(self) -> Stream:
        """What answers in fixed shapes, as it was asked last."""
        return self.stream_for(self._stream.texts if self._stream else 1)

    def stream_for(self, texts: int) -> Stream:
        """What answers rows of so many texts in fixed shapes; the empty ones that fill batches up have as many marks as they.

        If it had to take smaller batches than was asked for, `batch_tokens` says so.
        """
        known, device = self._stream, self.model.device
        if not known or (known.texts, known.device) != (texts, device) or self.batch_tokens not in known.sizes:
            left, tags = self.tokenizer.padding_side == "left", self.task == "tokens"
            empty = encode(self.tokenizer, [[("a",)] if tags else [""]] * texts, self.max_length, words=tags)
            known = self._stream = Stream(
                self._tag if tags else self._score, self.fill, left, 0 if tags else self.count, self.max_length,
                self.batch_tokens or TOKENS, device, empty, not self.sees_padding,
            )  # fmt: skip
        self.batch_tokens = known.tokens
        return known

    @property
    def fill(self) -> dict[str, int]:
        """The arrays that the model takes, each with its padding value."""
        types = {"token_type_ids": self.tokenizer.pad_token_type_id} if self.takes_types else {}
        return {"input_ids": self.pad, **types}

    @property
    def pad(self) -> int:
        """The piece that pads rows; the attention mask hides it."""
        return padding(self.model, self.tokenizer)

    def _run(self, pieces: Pieces, answer: Callable[[dict[str, Any]], Any]) -> Answered:
        """What `answer` returns for batches of the rows, in the order of the batches, each with its attention mask."""

        if self.task != "text" and self.sees_padding:
            pieces = EqualPieces(pieces.order, pieces.length, pieces.flat)
        cuda = self.model.device.type == "cuda"
        wide = STEP if cuda and self.max_length % STEP == 0 else 1  # GPUs are faster on rows of such lengths

        def step(at: int, end: int) -> tuple[Any, Mask]:
            batch = pieces.pad(at, end, self.fill, self.tokenizer.padding_side == "left", wide)
            return answer(self._inputs(batch)), batch.mask

        # the time to generate a text depends on the text, so trials of sizes would say little
        known = self.batch_tokens or (self.usual_tokens // self.num_beams if self.task == "text" else None)
        tuner = Tuner(SIZES, OTHERWISE)
        done, settled = in_batches(pieces, step, known, tuner, wait=lambda part: part[0].cpu())
        if settled != known:
            self.batch_tokens = settled
        return done

    @cached_property
    def sees_padding(self) -> bool:
        """Whether the answer to a row depends on its padding, as that of a network with convolutions may."""
        import torch

        tokens = self.task == "tokens"
        texts: list[Any] = [("a",) * 3, ("a",) * 24] if tokens else ["a a a", "a " * 24]
        pieces = encode(self.tokenizer, [texts], self.max_length, words=tokens)
        alone, both = (pieces.pad(at, 2, self.fill, self.tokenizer.padding_side == "left") for at in (1, 0))
        with self.ready():
            one, other = (self._score(self._inputs(batch))[-1].cpu().numpy() for batch in (alone, both))
        apart = np.abs(one - (other[both.mask[-1]] if tokens else other)).max()
        seen = max(SEEN, SEEN_IN_EPS * torch.finfo(self.model.dtype).eps)
        return bool(apart > seen * max(1.0, float(np.abs(one).max())))

    def _inputs(self, batch: Batch) -> dict[str, Any]:
        import torch

        return {name: torch.from_numpy(array).to(self.model.device) for name, array in batch.inputs.items()}

    def _score(self, inputs: dict[str, Any]) -> Any:
        if self.counts_places:  # the first piece has place 0, whatever padding stands before it
            inputs = {**inputs, "position_ids": (inputs["attention_mask"].cumsum(1) - 1).clamp(min=0)}
        return self.model(**inputs).logits.float()

    def _gathered(self, pieces: Pieces, found: Answered) -> Arrays:
        """The answers of all batches, as `send` has them."""
        if self.task == "text":
            rows = [part.cpu().numpy() for part, _ in found]
            length = np.repeat([part.shape[1] for part in rows], [len(part) for part in rows])
            return {"ids": np.concatenate([part.ravel() for part in rows]), "length": length}
        if self.task == "tokens":
            return {"tags": np.concatenate([part.cpu().numpy()[mask] for part, mask in found])}
        logits = np.concatenate([part.cpu().numpy() for part, _ in found])
        if self.steady and self.model.device.type == "cpu" and self.model.dtype.itemsize == 4:
            logits = self._steadied(pieces, logits)
        return {"logits": logits}

    def _finish(self, pieces: Pieces, found: Arrays, rows: list[Column]) -> Outputs:
        """The answers to rows, from what `send` found."""
        if self.task == "text":
            texts = np.split(found["ids"], np.cumsum(found["length"])[:-1])
            said = self.tokenizer.batch_decode(texts, skip_special_tokens=True)
            return Outputs.of(as_objects(pieces.back(list(said))))
        if self.task == "tokens":
            return self._tags(pieces, found["tags"], rows)
        return self._scores(pieces, found["logits"])

    def _scores(self, pieces: Pieces, logits: npt.NDArray[Any]) -> Outputs:
        scores = np.empty((len(pieces), self.count), np.float32)
        scores[pieces.order] = softmax(logits) if self.task == "single" else sigmoid(logits)
        lost = np.isnan(scores).any(1)
        advice = f" in {kind}: try dtype=bfloat16" if (kind := self.backend.rpartition(" ")[2]) == "float16" else ""
        problem = np.where(lost, f"error: the model's scores are nan{advice}", "").tolist()
        return Outputs.of(scores, problem if lost.any() else None)

    def _steadied(self, pieces: Pieces, logits: npt.NDArray[np.float32]) -> Floats:
        """Logits that depend on the text alone: rounded to STEP_OF_LOGITS.

        Batches and threads change a logit by less than NOISE, a large one in proportion. Where it is so near the middle between
        two steps that this decides how it is rounded, the row is asked again, alone and with one thread: one row in fifty.
        """
        import torch

        step = STEP_OF_LOGITS * 2.0 ** np.ceil(np.log2(max(2, self.count) / 2))  # more labels, more doubts
        steps = logits.astype(np.float64) / step
        noise = NOISE * np.maximum(1, np.abs(logits).max(1, keepdims=True) / USUAL)
        doubtful = np.flatnonzero((np.abs(steps - np.floor(steps) - 0.5) < noise / step).any(1))
        threads, left = torch.get_num_threads(), self.tokenizer.padding_side == "left"
        torch.set_num_threads(1 if doubtful.size else threads)
        try:
            for at in doubtful.tolist():
                alone = self._score(self._inputs(pieces.pad(at, at + 1, self.fill, left)))
                steps[at] = alone.numpy()[0].astype(np.float64) / step
        finally:
            torch.set_num_threads(threads)
        return np.asarray(np.rint(steps) * step)

    def _tag(self, inputs: dict[str, Any]) -> Any:
        return self._score(inputs).argmax(-1)

    def _tags(self, pieces: Pieces, tags: Ints, rows: list[Column]) -> Outputs:
        """The tag of a token is that of its first piece; a token without a piece has tag -1."""
        word, row = pieces.flat["word"], np.repeat(pieces.order, pieces.length)
        first = (word >= 0) & (np.diff(word, prepend=-1) != 0)
        first[pieces.start[:-1]] = word[pieces.start[:-1]] >= 0
        start = np.append(0, np.cumsum([len(tokens) for tokens in rows[0]]))
        out = np.full(start[-1], -1, np.int64)
        out[start[row[first]] + word[first]] = tags[first]
        return Outputs.of(as_objects(np.split(out, start[1:-1])))

    def _write(self, inputs: dict[str, Any]) -> Any:
        options = {"do_sample": False, "num_beams": self.num_beams, "max_new_tokens": self.max_new_tokens}
        return self.model.generate(**inputs, **options)


HEADS: dict[Task, tuple[str, str]] = {  # the class that loads a model, and the words for its training
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
    """Opens a folder, or a model by its id on the Hub. Code that comes with a model is not run.

    labels: names of the model's classes in its order, instead of its own. device: auto, cpu, cuda, cuda:1, mps. threads: how
    many torch may use in this process. dtype: of the weights. By default float32 on a CPU; on a GPU what the model was saved as
    if that has 16 bits or the task is text, else float16, or bfloat16 if numbers get too large for that. revision: a branch, tag
    or commit. The rest is explained at Transformer.
    """
    head, purpose = _head(task)
    wanted = f"a model fine-tuned for {purpose}"
    torch, _ = libraries()
    if threads is not None:
        check_number(threads, "threads", str(name))
        torch.set_num_threads(threads)

    def check(config: Any) -> None:
        for said in config.architectures or []:
            if said.endswith(CLASSIFIERS):  # each loads as the other; any other mismatch shows in the weights
                _check_head(said, task, str(name))
        if task == "tokens" and (said := getattr(config, "problem_type", None)):  # set by training on whole texts
            raise BadModel(f"expected {wanted}, got {name}, trained for {said}")

    def opened(kind: str | None) -> loading.Loaded:
        return loading.load(
            name, f"AutoModelFor{head}", wanted, device=device, revision=revision, dtype=kind, check=check,
            spaced=task == "tokens", half=task != "text",
        )  # fmt: skip

    loaded = opened(dtype)
    if dtype is None and task != "text" and loaded.model.dtype == torch.float16 and not fits_float16(loaded):
        loaded = opened("bfloat16")
    model = loaded.model
    for part in list(model.modules()):
        if hasattr(part, "set_attention_type"):  # of BigBird, which does so for good as soon as it gets a short text
            part.set_attention_type("original_full")
    victim = Transformer(
        model, loaded.tokenizer, task, name=loaded.name, labels=labels, batch_tokens=batch_tokens, max_length=max_length,
        num_beams=num_beams, max_new_tokens=max_new_tokens, prefix=prefix, digest=lambda: loaded.digest,
    )  # fmt: skip
    ensure_padding(model, loaded.tokenizer)
    victim.sees_through_files = model.device.type in ("cpu", "cuda")  # each worker opens it for itself
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
    """Takes a pipeline's model and tokenizer as they are, on their device. After a call, the model is in the mode it was in.

    Options of the pipeline itself (top_k, function_to_apply and so on) have no effect.
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
    if type(model).__module__.startswith("transformers."):  # a user's class may have any name
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
    """Raises BadModel if the model's class is for another task."""
    made = "Seq2SeqLM" if said.endswith(("ForConditionalGeneration", "MTModel")) else said
    if HEADS[task][0] not in made:
        raise BadModel(f"expected a model fine-tuned for {HEADS[task][1]}, got {name}, a {said}")
