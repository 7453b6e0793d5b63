"""The pytest plugin as an installed package has it, also where Scuff was installed before it had one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]


def plugin_site(folder: Path) -> dict[str, str]:
    """Returns the environment of a process in which pytest finds the entry point, written into a folder."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entries = "".join(f"{name} = {module}\n" for name, module in project["entry-points"]["pytest11"].items())
    info = folder / ".site" / "plugin-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plugin\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[pytest11]\n{entries}", encoding="utf-8")
    return {"PYTHONPATH": os.pathsep.join(filter(None, [str(info.parent), os.environ.get("PYTHONPATH", "")]))}
