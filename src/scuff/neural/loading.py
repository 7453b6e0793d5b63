"""Models of Hugging Face with their tokenizers: by folder or id, with one line for the user where that does not work."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .library import BadModel, first_line, folder_digest, libraries, place, quiet, weights_digest

DTYPES = ("float32", "float16", "bfloat16")


@dataclass(eq=False)
class Loaded:
    """A model that answers, with its tokenizer, as they came from `source` (a folder or an id)."""

    name: str
    source: str
    model: Any
    tokenizer: Any
    config: Any
    batch_tokens: int | None = None  # that fit into memory, where more did not

    @cached_property
    def digest(self) -> str:
        """Tells the weights apart; reads all of them."""
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
        """As many pieces as model and tokenizer take, 512 where neither says."""
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
    """Pieces of the longest text that a model has positions for; 0 where it does not say."""
    known = getattr(model.config, "max_position_embeddings", None) or 0
    for name, part in model.named_modules():
        if name.endswith("position_embeddings") and getattr(part, "padding_idx", None) is not None:
            known = part.num_embeddings - part.padding_idx - 1  # RoBERTa counts from behind the padding
    return int(known)


def padding(model: Any, tokenizer: Any) -> int:
    """The piece that fills rows up: the tokenizer's or the model's own, else any."""
    pads = (tokenizer.pad_token_id, model.config.pad_token_id, tokenizer.eos_token_id, 0)
    return next(number for number in pads if number is not None)


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
) -> Loaded:
    """Open a folder, or download a model by its id. No code that comes with a model is run.

    build: the class of transformers that loads it, such as AutoModel. purpose: what it must have been trained for, for people.
    dtype: how weights are held; by default on a GPU as its files say, else float32.
    check: raises BadModel for settings that do not suit. may_lack: a pattern of weights that are not needed. spaced: the
    tokenizer is given single tokens, which byte-level models (RoBERTa) learnt with a space before them.
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
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, **options)
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
    except (ValueError, RuntimeError, ImportError, KeyError) as error:  # foreign code, other shapes, lacking packages
        raise BadModel(f"expected {purpose}, got {name}: {first_line(error)}") from None
    missing = {key.rpartition(".")[0] or key for key in info["missing_keys"]}
    if missing := {part for part in missing if not may_lack or not re.search(may_lack, part)}:
        parts = ", ".join(sorted(missing)[:3]) + (" and more" if len(missing) > 3 else "")
        raise BadModel(f"expected {purpose}, got {name}, whose {parts} has no trained weights")
    return Loaded(str(name), source, model, tokenizer, config)


def find_source(name: str) -> str:
    """The folder of this name, or the id that it is."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise BadModel(f"{name}: expected a folder with the config.json of a Hugging Face model, got one without")
        return str(folder)
    if folder.exists() or not re.fullmatch(r"\w[\w.-]*(/\w[\w.-]*)?", name):
        raise BadModel(f"expected the folder or the id of a Hugging Face model, got {name}")
    return name
