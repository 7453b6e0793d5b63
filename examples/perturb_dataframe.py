"""Perturb a column of a DataFrame; for files there is `scuff perturb reviews.csv -p keyboard -o noisy.csv`."""

from __future__ import annotations

import pandas as pd

import scuff

if __name__ == "__main__":
    table = pd.DataFrame({
        "review": ["The staff were friendly and the room was spotless", "Call 555-0199 and ask for a refund"],
        "stars": [5, 1],
    })  # fmt: skip
    for level in ("low", "mid", "high"):
        table[f"keyboard {level}"] = scuff.perturb(table["review"].tolist(), "keyboard", level, protect=["numbers"])
    print(table.T.to_string())

    text, edits = scuff.perturb(table["review"][0], "inner-shuffle", return_edits=True)
    for edit in edits:
        print(f"characters {edit.start} to {edit.stop}: {edit.old} became {edit.new}")
