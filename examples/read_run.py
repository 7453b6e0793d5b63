"""Read a run folder: numbers from summary.json, texts from results.jsonl. No model is needed for that."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import scuff

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        scuff.evaluate("toy:sentiment", "toy:sentiment", run, dimensions=["typo-g", "glyph-m"], examples=50, cases=3)

        summary = json.loads((run / "summary.json").read_text())
        for name, dimension in summary["dimensions"].items():
            low, high = dimension["average"]["interval"]
            print(f"{name}: {dimension['average']['value']:.3f} [{low:.3f}, {high:.3f}]")
            for cell in dimension["degrees"]:
                print(f"  at {cell['degree']}: {cell['average']['value']:.3f}, of {cell['cases']} cases")

        for line in map(json.loads, (run / "results.jsonl").read_text().splitlines()):
            if broken := line["dimensions"]["glyph-m"]["broken_by"]:  # the smallest change that broke it
                print(line["texts"][0], "->", broken["texts"][0], f"({broken['answer']['label']})", sep="\n  ")

        print(scuff.report(run))  # computes everything again from the trials, also report.html
