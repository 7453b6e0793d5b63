"""How we use torch and transformers: quietly, where the model stands, and leaving everything as it was."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

# what says how a folder answers; logs, optimizer states and the like do not
TELLING = ("config.json", "generation_config.json", "*token*.json", "vocab*", "merges.txt", "*.model", "*.spm")
WEIGHTS = ("*.safetensors", "*.bin")  # the second where there is none of the first


class BadModel(ValueError):
    """What the user named as a model is none that we can use."""


def libraries() -> tuple[Any, Any]:
    """torch and transformers, or the command that installs them."""
    try:
        import torch
        import transformers
    except ImportError:
        raise BadModel("expected transformers and torch, got none: pip install 'scuff[transformers]'") from None
    return torch, transformers


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars and no warnings from the libraries; afterwards as the user had it."""
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
    """Without dropout and gradients; afterwards each part trains on if it did.

    Not inference_mode: what a model keeps from such a call (rotary tables, say) could not be trained with afterwards.
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
    """The device of this name; auto takes cuda, else mps, else cpu."""
    import torch

    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        return torch.empty(0, device=device).device
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise BadModel(f"expected a device of this machine, got {device!r}: {first_line(error)}") from None


def folder_digest(folder: Path) -> str:
    """Of the files that say how a model answers: settings, tokenizer, weights."""
    weights = next((found for pattern in WEIGHTS if (found := list(folder.glob(pattern)))), [])
    files = {path for pattern in TELLING for path in folder.glob(pattern)} | set(weights)
    total = sha256()
    for path in sorted(files):
        total.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        add_file(total, path)
    return total.hexdigest()


def add_file(total: Any, path: Path) -> Any:
    """A hash that goes on with a file, however large."""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total


def weights_digest(model: Any, name: str) -> str:
    """Of the weights in memory: the sum of their bits, which is exact in any order, and their shapes."""
    import torch

    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    total = sha256(name.encode())
    for key, tensor in model.state_dict().items():
        if torch.is_tensor(tensor) and tensor.element_size() in kinds:
            bits = tensor.detach().contiguous().view(kinds[tensor.element_size()]).sum(dtype=torch.int64).item()
            total.update(f"{key}{tuple(tensor.shape)}{tensor.dtype}{bits}\0".encode())
    return total.hexdigest()


def first_line(error: BaseException) -> str:
    return str(error).strip().split("\n")[0][:300] or type(error).__name__
