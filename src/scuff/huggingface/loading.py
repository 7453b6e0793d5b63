"""Loads models and tokenizers of Hugging Face from a folder or the local cache, and turns failures into one-line errors."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from ..isolation import Blameless
from ..resources.checksums import folder_digest


class BadModel(Blameless, ValueError):
    """The user named something as a model that cannot be used as one."""


def libraries() -> tuple[Any, Any]:
    """torch and transformers. Raises BadModel with the command that installs them if they are missing."""
    try:
        import torch
        import transformers
    except ImportError:
        raise BadModel("expected transformers and torch, got none: pip install 'scuff[transformers]'") from None
    return torch, transformers


@contextmanager
def quiet() -> Iterator[None]:
    """Turns off progress bars and warnings of the libraries; afterwards they are as before."""
    from huggingface_hub import utils as hub
    from transformers.utils import logging

    verbosity, bars, hub_bars = (
        logging.get_verbosity(), logging.is_progress_bar_enabled(), not hub.are_progress_bars_disabled(),
    )  # fmt: skip
    hub_verbosity = hub.logging.get_verbosity()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.set_verbosity_error()
        hub.logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            hub.logging.set_verbosity(hub_verbosity)
            if bars:
                logging.enable_progress_bar()
            if hub_bars:
                hub.enable_progress_bars()
            else:
                hub.disable_progress_bars()


@contextmanager
def answering(model: Any) -> Iterator[None]:
    """Turns off dropout and gradients; afterwards each part is in training mode if it was before.

    Not inference_mode: what a model keeps from such a call (such as rotary tables) cannot be used in training afterwards.
    """
    import torch

    training = [part for part in model.modules() if part.training]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for part in training:
            part.training = True


def place(device: str) -> Any:
    """The device of this name; auto: cuda if there is one, else mps, else cpu. Raises BadModel if there is none of that name."""
    import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise BadModel(f"expected a device of this machine, got {device!r}: {first_line(error)}") from None


def weights_digest(model: Any, name: str) -> str:
    """A digest of the weights in memory: the sum of their bits, which does not depend on the order, and their shapes."""
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    total = sha256(name.encode())
    for key, tensor in model.state_dict().items():
        if torch.is_tensor(tensor) and tensor.element_size() in kinds:
            bits = tensor.detach().contiguous().view(kinds[tensor.element_size()]).sum(dtype=torch.int64).item()
            total.update(f"{key}{tuple(tensor.shape)}{tensor.dtype}{bits}\0".encode())
    return total.hexdigest()


def first_line(error: BaseException) -> str:
    """The first line of an error message that says what is wrong, or the name of its class."""
    lines = [line for line in map(str.strip, str(error).split("\n")) if line]
    # OpenVINO begins with where in its sources that is
    return next((line for line in lines if not line.startswith("Exception from ")), type(error).__name__)[:300]


@dataclass(eq=False)
class Loaded:
    """A model that is ready to answer, with its tokenizer, as loaded from `source` (a folder or an id)."""

    name: str
    source: str
    model: Any
    tokenizer: Any
    config: Any
    batch_tokens: int | None = None  # tokens of a batch that fit into memory, if more did not

    @cached_property
    def digest(self) -> str:
        """Differs for different weights; reads all of them."""
        if Path(self.source).is_dir():
            return folder_digest(Path(self.source))
        commit = getattr(self.config, "_commit_hash", None)
        return f"{self.source}@{commit}" if commit else weights_digest(self.model, self.source)

    @property
    def pad(self) -> int:
        """The piece that fills rows up; the mask hides it."""
        return padding(self.model, self.tokenizer)

    @cached_property
    def longest(self) -> int:
        """The most pieces that model and tokenizer take, 512 if neither says."""
        limits = (positions(self.model), self.tokenizer.model_max_length)
        return min((limit for limit in limits if 0 < limit < 1 << 30), default=512)

    def frame(self, texts: int) -> list[list[int]]:
        """The marks that the tokenizer sets before, between and behind so many texts."""
        bare = self.tokenizer("a", add_special_tokens=False)["input_ids"]
        full, at, marks = self.tokenizer(*["a"] * texts)["input_ids"], 0, []
        for _ in range(texts):
            begin = next(place for place in range(at, len(full)) if full[place : place + len(bare)] == bare)
            marks.append(full[at:begin])
            at = begin + len(bare)
        return [*marks, full[at:]]


def positions(model: Any) -> int:
    """The most pieces that a model has positions for; 0 if it does not say."""
    known = getattr(_about_texts(model), "max_position_embeddings", None) or 0
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            known = len(part.weight) - part.padding_idx - 1  # RoBERTa counts from behind the padding
    return int(known)


def padding(model: Any, tokenizer: Any) -> int:
    """The number of the piece that fills rows up: that of the tokenizer or the model, else any."""
    known = getattr(_about_texts(model), "pad_token_id", None)
    pads = (tokenizer.pad_token_id, known, tokenizer.eos_token_id, 0)
    return next(number for number in pads if number is not None)


def ensure_padding(model: Any, tokenizer: Any) -> None:
    """Tells a model which piece fills rows up, if it does not say: classifiers that read the last piece need it."""
    config = _about_texts(model)
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = padding(model, tokenizer)


def _about_texts(model: Any) -> Any:
    """What a model's configuration says about texts: that of models which take pictures, too, has a part for them."""
    return model.config.get_text_config() if hasattr(model.config, "get_text_config") else model.config


DTYPES = ("float32", "float16", "bfloat16")
TOKENIZERS = ("tokenizer.json", "tokenizer.model")  # files of tokenizers, beside those that their classes name


def load(
    name: str | Path,
    build: str,
    purpose: str,
    *,
    device: str = "auto",
    revision: str | None = None,
    dtype: str | None = None,
    check: Callable[[Any], None] = lambda config: None,
    may_lack: str = "",
    spaced: bool = False,
    half: bool = False,
) -> Loaded:
    """Loads a model from a folder, or by its id (which may download it). Never runs code that comes with a model.

    build: the class of transformers that loads it, such as AutoModel. purpose: what it must have been trained for, for error
    messages. dtype: of the weights; by default as its files say on a GPU, else float32. half: on a GPU, by default float16 where
    the files say float32. check: raises BadModel for a configuration that does not suit. may_lack: a pattern of weights that are
    not needed. spaced: the tokenizer will get single tokens, which byte-level models (RoBERTa) learnt with a space before them.
    """
    torch, transformers = libraries()
    where, source = place(device), find_source(str(name))
    options = {"revision": revision or "main", "trust_remote_code": False}
    if dtype is not None and dtype not in DTYPES:
        raise BadModel(f"expected one of {', '.join(DTYPES)} for dtype, got {dtype!r}")
    kind = getattr(torch, dtype) if dtype else "auto" if where.type == "cuda" else torch.float32
    try:
        with quiet():
            config = transformers.AutoConfig.from_pretrained(source, **options)
            check(config)
            if half and kind == "auto" and getattr(config, "dtype", None) not in (torch.float16, torch.bfloat16):
                kind = torch.float16
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
            _check_files(tokenizer, source)
            if spaced and getattr(tokenizer, "add_prefix_space", None) is False:
                tokenizer = transformers.AutoTokenizer.from_pretrained(source, add_prefix_space=True, **options)
            model, info = getattr(transformers, build).from_pretrained(
                source, config=config, dtype=kind, output_loading_info=True, **options
            )
            model.to(where).eval()
    except BadModel:
        raise
    except OSError as error:
        raise BadModel(
            f"expected the folder or the id of a model within reach, got {name}: {first_line(error)}"
        ) from None
    except Exception as error:  # foreign code, other shapes, lacking packages, damaged files: of any class
        kind = "" if isinstance(error, (ValueError, RuntimeError, ImportError)) else f"{type(error).__name__}: "
        raise BadModel(f"expected {purpose}, got {name}: {kind}{first_line(error)}") from None
    missing = {key.rpartition(".")[0] or key for key in info["missing_keys"]}
    if missing := {part for part in missing if not may_lack or not re.search(may_lack, part)}:
        parts = ", ".join(sorted(missing)[:3]) + (" and more" if len(missing) > 3 else "")
        raise BadModel(f"expected {purpose}, got {name}, whose {parts} has no trained weights")
    return Loaded(str(name), source, model, tokenizer, config)


def _check_files(tokenizer: Any, source: str) -> None:
    """Raises BadModel if a folder has no files of a tokenizer: transformers makes one that knows nothing but its marks."""
    names = set(tokenizer.vocab_files_names.values())
    if names and Path(source).is_dir() and not any(Path(source, name).exists() for name in {*names, *TOKENIZERS}):
        raise OSError(f"no tokenizer in it, such as {TOKENIZERS[0]}")


def find_source(name: str) -> str:
    """The folder of this name, or the name itself if it can be an id. Raises BadModel if it is neither."""
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        if not (folder / "config.json").is_file():
            raise BadModel(f"{name}: expected a folder with the config.json of a Hugging Face model, got one without")
        return str(folder)
    if folder.exists() or not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", name):
        raise BadModel(f"expected the folder or the id of a Hugging Face model, got {name or 'an empty name'}")
    return name


PROBES, PROBED, SPREAD = 8, 128, 7919  # texts of a trial, pieces of each, and a prime number that spreads these


def fits_float16(loaded: Loaded) -> bool:
    """Whether a network's answers in float16 are numbers: some networks, such as T5's, have values that are too large for it.

    Asks about texts made of words from all over the vocabulary, short and long ones.
    """
    import torch

    count, tokenizer = len(loaded.tokenizer), loaded.tokenizer
    with quiet(), answering(loaded.model):
        for at in range(PROBES):
            words = [(at * PROBED + step) * SPREAD % count for step in range(2 if at % 2 else PROBED)]
            text, most = tokenizer.decode(words, skip_special_tokens=True), min(loaded.longest, PROBED)
            inputs = tokenizer(text, truncation=True, max_length=most, return_tensors="pt").to(loaded.model.device)
            if not inputs["input_ids"].numel():
                continue
            found = loaded.model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
            if not torch.isfinite(found).all():
                return False
    return True
