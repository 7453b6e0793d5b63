"""Draw docs/before-after.svg: one sentence under every perturbation, what changed marked.

pip install -e '.[natural]' && python build/readme_picture.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

from scuff.perturbations.names import NAMES
from scuff.perturbations.plan import Plan
from scuff.resources import MissingResource
from scuff.text.edits import Edit

TEXT = "Adversarial attacks are harmless to all NLP models, aren't they?"
TARGET = Path(__file__).parents[1] / "docs/before-after.svg"
STEP, LEFT = 30, 165


def marked(text: str, edits: list[Edit]) -> str:
    """The text after the edits, what they changed in colour."""
    out, at = [], 0
    for edit in edits:
        out.append(f'{escape(text[at : edit.start])}<tspan class="new">{escape(edit.new or "‿")}</tspan>')
        at = edit.stop
    return "".join([*out, escape(text[at:])])


def main() -> None:
    lines = [("original", escape(TEXT))]
    for name in NAMES:
        edits: list[list[Edit]] = []
        try:
            Plan.of(name, "mid", 3, None, ()).texts([TEXT], edits=edits)
        except MissingResource:  # needs a file or a model
            continue
        lines.append((name, marked(TEXT, edits[0])))
    rows = "\n".join(
        f'<text x="20" y="{36 + STEP * at}" class="name">{name}</text>'
        f'<text x="{LEFT}" y="{36 + STEP * at}" xml:space="preserve">{text}</text>'
        for at, (name, text) in enumerate(lines)
    )
    height = 36 + STEP * len(lines)
    TARGET.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="960" height="{height}" viewBox="0 0 960 {height}">\n'
        "<style>text{font:16px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#24292f}"
        ".name{fill:#6e7781}.new{fill:#bc4c00;font-weight:600}</style>\n"
        f'<rect width="960" height="{height}" rx="8" fill="#f6f8fa"/>\n{rows}\n</svg>\n',
        encoding="utf-8",
    )
    print(TARGET.name)


if __name__ == "__main__":
    main()
