"""The forward pass of a network on a CPU by onnxruntime or OpenVINO, from a file that is exported once and kept."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib import import_module
from inspect import signature
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from ..resources.checksums import add_file
from ..text.ragged import Ints
from .loading import BadModel, answering, first_line, quiet
from .shortcut import shorten

# arrays of a batch to all outputs of a file: of a model the logits alone; several threads may call it
Session = Callable[[dict[str, Ints]], list[npt.NDArray[Any]]]
FILE, SEAL = "model.onnx", "sha256"  # of a folder: the network, and a digest of all other files
DAY = 86400  # seconds after which an export that did not end was killed
WAY = "torchscript-17-shortened"  # how models are exported: a file of another way is another file


def require_backend(name: str) -> None:
    """Raises BadModel, with the command that installs it, if a package that a backend needs is missing."""
    for package in (name, "onnx"):  # torch exports through the latter
        try:
            import_module(package)
        except ImportError:
            raise BadModel(f"expected {package} for backend={name}, got none: pip install 'scuff[{name}]'") from None


# ---- the exported file ----


def kept_at() -> Path:
    """The folder for exported models: SCUFF_CACHE, or the user's cache folder."""
    own = os.environ.get("SCUFF_CACHE")
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scuff"
    return (Path(own).expanduser() if own else usual) / "onnx"


def exported(model: Any, digest: str, names: Sequence[str], backend: str) -> Path:
    """Returns the ONNX file of a model on the CPU; writes it if it is not there. Raises BadModel if that cannot be done.

    digest: of the weights. names: of the arrays that the model takes. backend: tries the file, which others may use, too. A file
    appears under its name only when it is complete, so several processes may export the same model at once. One that was damaged
    is written anew.
    """
    import torch
    import transformers

    about = (WAY, digest, type(model).__name__, torch.__version__, transformers.__version__, *names)
    target = kept_at() / sha256("\0".join(about).encode()).hexdigest()[:32]
    if _is_sealed(target):
        return target / FILE
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target.parent)
        made = Path(tempfile.mkdtemp(prefix="new-", dir=target.parent))
    except OSError as error:
        raise BadModel(
            f"expected a folder to keep exported models in, got {target.parent} ({first_line(error)}): set SCUFF_CACHE"
        ) from None
    try:
        inputs = export(model, names, made / FILE)
        shorten(made / FILE, inputs, lambda file, batch: open_session(backend, file, 1)(batch))
        (made / SEAL).write_text(_digest(made))
        try:
            if target.exists() and not _is_sealed(target):
                target.rename(made.with_name(f"{made.name}-damaged"))
            made.rename(target)
        except OSError:
            if not _is_sealed(target):  # nobody else was faster
                raise
    except OSError as error:
        raise BadModel(
            f"expected room for the exported model in {target.parent}, got {first_line(error)}: set SCUFF_CACHE"
        ) from None
    finally:
        shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(made.with_name(f"{made.name}-damaged"), ignore_errors=True)
    return target / FILE


def _digest(folder: Path) -> str:
    """A digest of the files of an exported model: a large network has its weights beside it."""
    total = sha256()
    for path in sorted(folder.iterdir()):
        if path.name != SEAL:
            total.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            add_file(total, path)
    return total.hexdigest()


def _is_sealed(folder: Path) -> bool:
    """Whether a folder holds an exported model as it was written."""
    try:
        return (folder / SEAL).read_text(errors="replace") == _digest(folder)
    except OSError:
        return False


def _remove_leftovers(folder: Path) -> None:
    """Removes what exports that were killed have left."""
    for path in folder.glob("new-*"):
        with suppress(OSError):  # another process was faster
            if time.time() - path.stat().st_mtime > DAY:
                shutil.rmtree(path)


def export(model: Any, names: Sequence[str], file: Path) -> dict[str, Ints]:
    """Writes a model as an ONNX file. Returns the inputs with which it was traced."""
    import torch

    class Logits(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *arrays: Any) -> Any:
            return self.model(**dict(zip(names, arrays, strict=True))).logits

    ids = torch.ones((2, 7), dtype=torch.int64)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    known = {"input_ids": ids, "attention_mask": mask}
    arrays = tuple(known.get(name, torch.zeros_like(ids)) for name in names)
    # the exporter that traces needs no further package, and takes seconds where torch.export takes minutes
    tracing = {"dynamo": False} if "dynamo" in signature(torch.onnx.export).parameters else {}
    with quiet(), answering(model), _nothing_printed():
        try:
            torch.onnx.export(
                Logits().eval(), arrays, str(file), input_names=list(names), output_names=["logits"], opset_version=17,
                dynamic_axes={**{name: {0: "rows", 1: "pieces"} for name in names}, "logits": {0: "rows"}}, **tracing,
            )  # fmt: skip
        except OSError:
            raise
        except Exception as error:  # of many classes: an operation that ONNX lacks, a type that cannot be traced
            raise BadModel(
                f"expected a model that can be exported to ONNX, got one that cannot: {first_line(error)}"
            ) from None
    return {name: array.numpy() for name, array in zip(names, arrays, strict=True)}


@contextmanager
def _nothing_printed() -> Iterator[None]:
    """Keeps what libraries in C++ write to standard output away: an export that fails prints the whole network."""
    sys.stdout.flush()
    before, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(before, 1)
        os.close(before)
        os.close(nowhere)


# ---- those that run it ----


def onnxruntime_session(file: Path, threads: int) -> Session:
    """A batch takes one thread, that of the caller: so the number of threads changes no answer."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False  # it is for batches of one shape
    options.log_severity_level = 4  # what fails is told by an exception
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]

    def run(inputs: dict[str, Ints]) -> list[npt.NDArray[Any]]:
        return list(session.run(None, {name: inputs[name] for name in names}))

    return run


@cache
def _openvino() -> Any:
    """OpenVINO's core, one for the process and never freed: it gives the thread that makes it a stack for signals, and if another
    thread frees it that stack is gone; the next signal, such as Ctrl-C, would end the process.
    """
    import openvino

    return openvino.Core()


def openvino_session(file: Path, threads: int) -> Session:
    """As many streams of one thread each as there are threads."""
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": threads}
    compiled = _openvino().compile_model(str(file), "CPU", settings)
    names = [name for one in compiled.inputs for name in one.names]
    free: SimpleQueue[Any] = SimpleQueue()
    for _ in range(threads):
        free.put(compiled.create_infer_request())

    def run(inputs: dict[str, Ints]) -> list[npt.NDArray[Any]]:
        request = free.get()
        try:
            found = request.infer({name: inputs[name] for name in names})
            return [np.array(found[at]) for at in range(len(found))]
        finally:
            free.put(request)

    return run


SESSIONS: dict[str, Callable[[Path, int], Session]] = {
    "onnxruntime": onnxruntime_session,
    "openvino": openvino_session,
}


def open_session(name: str, file: Path, threads: int) -> Session:
    """Opens an exported file. Raises BadModel if the backend cannot read it."""
    try:
        return SESSIONS[name](file, threads)
    except Exception as error:  # their own classes
        raise BadModel(f"expected a model that {name} can run, got {first_line(error)}; use backend=pytorch") from None
