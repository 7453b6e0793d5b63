"""The walls between the rooms (the design's table), read from the imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "scuff"
MAY_IMPORT = {
    "text": set(),
    "resources": set(),
    "language": {"text", "resources"},
    "neural": {"text", "resources"},
    "perturb": {"text", "resources", "language", "neural"},
    "files": {"text", "resources", "perturb"},
    "metrics": {"text"},
    "victims": {"text", "resources", "neural"},
    "attack": {"text", "resources", "metrics", "perturb", "language", "neural", "victims.base"},
    "evaluate": {"text", "metrics", "perturb", "attack", "victims.base"},
    "run": {"evaluate"},
    "report": {"evaluate"},
    "session": {"text", "resources", "perturb", "files", "victims", "attack", "evaluate", "run", "report"},
    "cli": {"text", "resources", "perturb", "files", "victims", "attack", "evaluate", "run", "report", "session"},
}
# third-party packages, and parts of the standard library that touch disk or network, by room
PACKAGES = {
    "text": {"numpy"},
    "resources": {"tomli"},
    "language": {"numpy", "lemminflect"},
    "neural": {"numpy", "torch", "transformers", "huggingface_hub"},
    "perturb": {"numpy"},
    "files": {"numpy", "pyarrow", "datasets"},
    "metrics": {"numpy", "rapidfuzz", "sacrebleu"},
    "victims": {"numpy", "torch", "transformers", "huggingface_hub"},
    "attack": {"numpy"},
    "evaluate": {"numpy"},
    "run": set(),
    "report": set(),
    "session": {"numpy", "yaml", "tomli"},
    "cli": set(),
}
OUTSIDE = {
    "os", "gzip", "shutil", "tempfile", "socket", "urllib", "http", "subprocess", "multiprocessing", "concurrent", "sqlite3",
    "ssl",
}  # fmt: skip
# rooms or single files
TOUCHES = {
    "resources": {"gzip"},
    "files": {"os", "gzip"},
    "victims": {"os", "http", "urllib", "socket", "ssl", "concurrent"},
    "victims/cache.py": {"sqlite3"},
    "evaluate/trials.py": {"os"},
    "run": {"multiprocessing", "concurrent"},
    "session": {"os", "tempfile"},
    "cli": {"os"},
}


def imports(path: Path) -> set[str]:
    """Absolute names of all modules that a file imports, wherever in the file."""
    package = ["scuff", *path.relative_to(SOURCE).parent.parts]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            found |= {module} if node.module else {f"{module}.{alias.name}" for alias in node.names}
    return found


FILES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_walls(path: Path) -> None:
    inside = path.relative_to(SOURCE)
    room = inside.parts[0]
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "scuff":
            other = {"", "__version__"} if len(parts) == 1 else {parts[1], ".".join(parts[1:3])}
            assert other & {"", "__version__", room} | other & MAY_IMPORT[room], f"{room} may not import {name}"
        elif parts[0] not in sys.stdlib_module_names and parts[0] != "typing_extensions":
            assert parts[0] in PACKAGES[room], f"{room} may not import {name}"
        elif parts[0] in OUTSIDE:
            allowed = TOUCHES.get(room, set()) | TOUCHES.get(inside.as_posix(), set())
            assert parts[0] in allowed, f"{inside} may not touch {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_command_line_prints_and_nothing_is_evaluated(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0]
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"eval", "exec", "__import__"}
    assert room == "cli" or "print" not in calls
    assert room in ("resources", "files") or path.name == "trials.py" or "open" not in calls
    assert not re.search(r"\bpickle\b", path.read_text(encoding="utf-8"))


def test_files_are_short() -> None:
    long = {str(p.relative_to(SOURCE)): n for p in SOURCE.rglob("*.py") if (n := len(p.read_text().splitlines())) > 200}
    assert not long, long


def test_imports_stay_light() -> None:
    """`import scuff` loads numpy and nothing else from outside; `scuff --help` no more than that."""
    heavy = "{'torch', 'transformers', 'pyarrow', 'regex', 'codespell_lib', 'scipy', 'pandas', 'rapidfuzz', 'yaml', 'sqlite3'}"
    for code in ("import scuff", "from scuff.cli.main import parser; parser()"):
        check = f"{code}; import sys; bad = {heavy} & set(sys.modules); assert not bad, bad"
        subprocess.run([sys.executable, "-c", check], check=True)


def test_shipped_data_is_in_the_manifest() -> None:
    from scuff import resources

    shipped = {path.name for path in (SOURCE / "resources" / "data").iterdir()}
    assert shipped == set(resources.manifest())
    for name, entry in resources.manifest().items():
        assert resources.load(name) and entry["licence"] and entry["source"] and entry["what"]


def test_damaged_data_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from scuff import resources

    resources.load.cache_clear()
    monkeypatch.setitem(resources.manifest()["demo.txt"], "sha256", "0" * 64)
    with pytest.raises(OSError, match="the installation is damaged"):
        resources.load("demo.txt")
    resources.load.cache_clear()
