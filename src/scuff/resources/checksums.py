"""Digests of files and folders that a user names, such as word vectors or Hugging Face models, since they may change in place."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any

# files that decide how a model answers; logs, optimizer states and the like do not
TELLING = ("config.json", "generation_config.json", "*token*.json", "vocab*", "merges.txt", "*.model", "*.spm")
WEIGHTS = ("*.safetensors", "*.bin")  # the second if there is none of the first

OPTION = re.compile(r"""\b\w+=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")  # in a spec: name='text'


def named_files(specs: Iterable[str], names: Iterable[str], commit: Callable[[str], str]) -> dict[str, str]:
    """Returns a digest of each file, model folder or cached model of the Hub that an option in `specs`, or `names`, name.

    Names of anything else are left out. commit: returns that of a model of the Hub, "" if there is none of the name.
    """
    options = (ast.literal_eval(value) for spec in specs for value in OPTION.findall(spec))
    found = {name: _digest(name, commit) for name in dict.fromkeys([*options, *names]) if name}
    return {name: digest for name, digest in sorted(found.items()) if digest}


def folder_digest(folder: Path) -> str:
    """A digest of the files that decide how a model answers: configuration, tokenizer, weights."""
    weights = next((found for pattern in WEIGHTS if (found := list(folder.glob(pattern)))), [])
    files = {path for pattern in TELLING for path in folder.glob(pattern)} | set(weights)
    total = sha256()
    for path in sorted(files):
        total.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        add_file(total, path)
    return total.hexdigest()


def add_file(total: Any, path: Path) -> Any:
    """Updates a hash with a file, block by block, and returns it."""
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total


def _digest(name: str, commit: Callable[[str], str]) -> str:
    """The digest of a file or a model; "" if the name is of neither."""
    try:
        path = Path(name).expanduser()
        if path.is_file():
            return str(add_file(sha256(), path).hexdigest())
        if (path / "config.json").is_file():
            return folder_digest(path)
        return commit(name) if re.fullmatch(r"\w[\w.-]*/\w[\w.-]*", name) else ""
    except (OSError, ValueError):  # too long for a name, or with characters that none has
        return ""
