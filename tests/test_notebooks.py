"""Every notebook in examples/notebooks runs from top to bottom, shows what it made, and is stored without outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient runs notebooks: pip install nbclient ipykernel")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))
FAST = "first_steps"  # a kernel takes seconds to start: one notebook is enough for every day


def markup(notebook: Any) -> list[str]:
    """What the cells of a notebook show as markup."""
    outputs = (output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs)
    return [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]


@pytest.mark.filterwarnings("ignore")  # of Jupyter's packages
@pytest.mark.parametrize(
    "path",
    [path if path.stem == FAST else pytest.param(path, marks=pytest.mark.slow) for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    shown = markup(notebook)
    assert any("scuff-result" in text and "<img" in text for text in shown), "a result shows its verdict and a chart"
    assert any("<ins>" in text for text in shown), "examples show what was changed"
    assert not any("<script" in text for text in shown)


def test_notebooks_are_stored_without_outputs() -> None:
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        content = json.loads(path.read_text(encoding="utf-8"))
        code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code), path.name
        assert content["cells"][0]["cell_type"] == "markdown"
