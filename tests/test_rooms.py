"""The walls between the rooms (CONTRIBUTING has the table), read from the imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "scuff"
GROUND = {
    "text",
    "resources",
    "specs",
    "version",
    "isolation",
    "interrupts",
    "stores",
    "exceptions",
    "readahead",
    "locks",
}
BELOW_VICTIMS = GROUND | {"english", "huggingface", "metrics", "perturbations", "shields", "data"}
MAY_IMPORT = {
    "text": set(),
    "resources": {"isolation"},
    "isolation": set(),
    "specs": {"resources"},
    "version": set(),
    "interrupts": set(),
    "locks": set(),
    "exceptions": set(),
    "readahead": set(),
    "stores": {"resources"},
    "english": {"text", "resources"},
    "huggingface": {"text", "resources", "isolation"},
    "translators": {"text", "resources", "specs", "isolation", "huggingface"},
    "metrics": {"text", "resources", "huggingface", "specs", "version", "english"},
    "perturbations": GROUND | {"english", "huggingface", "metrics"},
    "shields": GROUND | {"english", "metrics", "perturbations"},
    "data": GROUND | {"perturbations", "shields"},
    "victims": GROUND | {"huggingface", "translators", "metrics", "data", "shields"},
    "runs": GROUND | {"data", "metrics", "victims", "shields"},
    "evaluation": BELOW_VICTIMS | {"victims", "runs"},
    "attacks": BELOW_VICTIMS | {"victims", "runs"},
    "training": GROUND
    | {"huggingface", "translators", "perturbations", "shields", "metrics", "data", "victims", "runs", "evaluation"}
    | {"attacks"},
    "reports": GROUND | {"data", "metrics", "runs", "evaluation", "attacks"},
    "judging": GROUND | {"perturbations", "data", "metrics", "runs", "evaluation", "reports"},
    "keywords": BELOW_VICTIMS | {"evaluation", "attacks"},
    "api": {"keywords"}
    | BELOW_VICTIMS
    | {"victims", "runs", "evaluation", "attacks", "training", "reports", "judging"},
    "web": GROUND | {"perturbations", "shields", "data", "victims", "runs", "attacks", "reports"},
    "pytest_plugin": {"api", "reports"},
    "cli": BELOW_VICTIMS | {"victims", "runs", "evaluation", "attacks", "training", "reports", "judging", "api", "web"},
}
# third-party packages, and parts of the standard library that touch disk or network, by room
PACKAGES = {
    "text": {"numpy"},
    "resources": {"tomli"},
    "stores": {"fsspec"},
    "english": {"numpy", "lemminflect"},
    "huggingface": {"numpy", "torch", "transformers", "huggingface_hub", "onnx", "onnxruntime", "openvino"},
    "translators": {"numpy", "torch", "tokenizers", "safetensors"},
    "metrics": {"numpy", "rapidfuzz", "sacrebleu"},
    "perturbations": {"numpy"},
    "shields": {"numpy"},
    "data": {"numpy", "pyarrow", "datasets"},
    "victims": {"numpy", "torch", "transformers", "huggingface_hub", "urllib3"},
    "runs": {"numpy", "yaml", "tomli", "mlflow", "wandb", "ray"},
    "evaluation": {"numpy"},
    "attacks": {"numpy"},
    "training": {"numpy", "torch", "transformers", "safetensors", "sacrebleu"},
    "reports": {"numpy", "jinja2", "markupsafe", "yaml", "pandas", "resvg_py"},
    "judging": {"numpy"},
    "web": {"numpy", "starlette", "uvicorn"},
    "pytest_plugin": {"pytest"},
}
OUTSIDE = {
    "os", "gzip", "shutil", "tempfile", "socket", "urllib", "http", "subprocess", "multiprocessing", "concurrent", "sqlite3",
    "ssl",
}  # fmt: skip
# rooms or single files
TOUCHES = {
    "resources": {"gzip"},
    "data": {"os", "gzip"},
    "data/parts.py": {"shutil"},
    "victims": {"os", "http", "urllib", "socket", "ssl", "concurrent"},
    "huggingface/backends.py": {"os", "shutil", "tempfile"},
    "victims/cache.py": {"sqlite3"},
    "victims/slabs.py": {"multiprocessing", "tempfile"},
    "exceptions": {"multiprocessing"},
    "readahead": {"concurrent"},
    "runs": {"os", "shutil", "tempfile", "multiprocessing", "concurrent"},
    "runs/engines/cluster.py": {"socket"},
    "training/files.py": {"os"},
    "api.py": {"tempfile"},
    "web": {"socket", "http", "urllib"},
    "cli": {"os"},
    "cli/terminal.py": {"shutil"},
    "interrupts.py": {"os"},
    "locks.py": {"os"},
    "stores.py": {"tempfile"},
    "runs/store.py": {"socket"},
    "pytest_plugin.py": {"shutil"},
}
FILES = sorted(
    path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).as_posix() not in ("__init__.py", "__main__.py")
)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> set[str]:
    """Absolute names of all modules that a file imports, wherever in the file."""
    package = ["scuff", *path.relative_to(SOURCE).parent.parts]
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = {f"{module}.{alias.name}" for alias in node.names}
            found |= names & modules().keys() or {module}
    return found


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    parts = {path: ["scuff", *path.relative_to(SOURCE).with_suffix("").parts] for path in SOURCE.rglob("*.py")}
    return {".".join(names).removesuffix(".__init__"): path for path, names in parts.items()}


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def test_walls() -> None:
    """Every import goes to a room, a package or a part of the standard library that the importing room may use."""
    wrong = []
    for path in FILES:
        room, inside = room_of(path), path.relative_to(SOURCE).as_posix()
        for name in imports(path):
            parts = name.split(".")
            if parts[0] == "scuff":
                if parts[1:] and parts[1] != room and parts[1] not in MAY_IMPORT[room]:
                    wrong.append(f"{inside} may not import {name}")
            elif parts[0] not in sys.stdlib_module_names and parts[0] != "typing_extensions":
                if parts[0] not in PACKAGES.get(room, set()):
                    wrong.append(f"{inside} may not import {name}")
            elif parts[0] in OUTSIDE and parts[0] not in TOUCHES.get(room, set()) | TOUCHES.get(inside, set()):
                wrong.append(f"{inside} may not touch {name}")
    assert not wrong, "\n".join(wrong)


def test_no_cycles_no_prints_no_eval() -> None:
    """Files import each other in one direction; only the command line prints; nothing is evaluated or unpickled."""
    graph = {name: imports(path) & modules().keys() - {name} for name, path in modules().items()}
    list(TopologicalSorter(graph).static_order())  # raises CycleError, which names the files
    wrong = []
    for path in FILES:
        room = room_of(path)
        calls = {n.func.id for n in ast.walk(tree(path)) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        bad = calls & {"eval", "exec", "__import__"}
        bad |= calls & {"print"} if room != "cli" else set()
        bad |= (
            calls & {"open"}
            if room not in ("resources", "data", "stores", "locks") and path.name != "disk.py"
            else set()
        )
        bad |= {"pickle"} if re.search(r"\bpickle\b", path.read_text(encoding="utf-8")) else set()
        wrong += [f"{path.relative_to(SOURCE)}: {name}" for name in sorted(bad)]
    assert not wrong, wrong


TRACE = """
import sys
from pathlib import Path
import scuff.api
from scuff.cli.main import main

source, rooms, seen = str(Path(scuff.__file__).parent) + "/", [], set()

def enter(frame, event, argument):
    file = frame.f_code.co_filename
    if event == "call" and file.startswith(source) and frame.f_code.co_name != "<module>" and file not in seen:
        seen.add(file)
        rooms.append(file.removeprefix(source).split("/")[0].removesuffix(".py"))

sys.setprofile(enter)
main(sys.argv[1:])
sys.setprofile(None)
print("ROOMS", *rooms)
"""


def test_a_request_crosses_few_borders(tmp_path: Path) -> None:
    """Files in the order in which a function of theirs is called for the first time, the ground floor left out: how often the
    room changes. It was 26 when features were spread over rooms; the forecast, which makes a few cases before the run, is one.
    """
    command = [
        "evaluate",
        "toy:sentiment",
        "toy:sentiment",
        "--access",
        "score",
        "--dimensions",
        "typo-m",
        "--encoder",
        "chrf",
    ]
    command += ["--examples", "10", "--cases", "2", "--degrees", "0.3", "-q", "-o", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-c", TRACE, *command], capture_output=True, text=True, check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("ROOMS"))
    walk = [room for room in line.split()[1:] if room not in GROUND | {"perturbations"}]
    borders = [pair for pair in pairwise(walk) if pair[0] != pair[1]]
    assert len(borders) <= 13, borders


def test_imports_stay_light() -> None:
    """`import scuff` loads numpy and nothing else from outside; `scuff --help` no more than that."""
    heavy = {
        "torch", "transformers", "pyarrow", "regex", "codespell_lib", "scipy", "pandas", "rapidfuzz", "yaml", "sqlite3",
        "urllib3", "jinja2", "markupsafe", "starlette", "uvicorn", "ray", "multiprocessing.connection", "fsspec",
    }  # fmt: skip
    for code in ("import scuff", "from scuff.cli.main import parser; parser()"):
        check = f"{code}; import sys; bad = {heavy} & set(sys.modules); assert not bad, bad"
        subprocess.run([sys.executable, "-c", check], check=True)
    rooms = {f"scuff.{room}" for room in MAY_IMPORT} - {"scuff.version", "scuff.interrupts", "scuff.pytest_plugin"}
    check = (
        f"import scuff.pytest_plugin, sys; bad = {heavy | rooms | {'numpy'}} & set(sys.modules); assert not bad, bad"
    )
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
