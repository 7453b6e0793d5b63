"""Results as notebooks show them: markup that stands in any page, light or dark, and loads nothing."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Any

from markupsafe import Markup

from ..data.dataset import joined
from ..runs.display import edits_of
from ..runs.proof import Proof
from ..runs.schema import AttackSummary, EvaluationSummary
from .attack_tables import number_rows, title
from .changes import points
from .changes import verdict as won_or_lost
from .examples import Example, Found
from .formatting import percent, spread
from .groups import by_harm
from .page import answer_text, environment, marked
from .pictures import attack_pictures, evaluation_pictures
from .verdict import Verdict

ROWS = 100  # examples that a notebook shows at most


def evaluation_html(summary: EvaluationSummary, verdict: Verdict) -> str:
    """Returns an evaluation in short: verdict, a chart, and the scores, the most harmful dimension first."""
    left = {entry["dimension"]: percent(entry["left"]) for entry in summary["harm"]}
    rows = [["clean", spread(summary["clean"]["score"]), "", ""]]
    for names in by_harm(summary).values():
        for name in names.values():
            content = summary["dimensions"][name]
            rows.append([name, spread(content["average"]), spread(content["worst"]), left[name]])
    overall = summary["overall"]
    rows.append(["overall", spread(overall["average"]), spread(overall["worst"]), ""])
    return _render(
        title=f"{summary['model']} on {summary['data']['name']}", verdict=verdict,
        picture=_image(next(iter(evaluation_pictures(summary).values()), "")),
        head=[f"{summary['metric']} in %", "final average", "final worst", "left at the highest degree"], rows=rows,
    )  # fmt: skip


def attack_html(summary: AttackSummary, verdict: Verdict) -> str:
    """Returns an attack in short: verdict, the texts that hold by number of queries, and the numbers."""
    return _render(
        title=title(summary), verdict=verdict, picture=_image(next(iter(attack_pictures(summary).values()), "")),
        head=["", "value [95 %]", ""], rows=[[what.strip(), value, of] for what, value, of in number_rows(summary)],
    )  # fmt: skip


def harden_html(proof: Proof) -> str:
    """Returns a hardening in short: what was won and lost."""
    found = proof["comparison"]
    changes = [("clean", found["clean"]), *((name, each["average"]) for name, each in found["dimensions"].items())]
    rows = [
        [name, percent(one["before"]), percent(one["after"]), points(one), won_or_lost(one)]
        for name, one in [*changes, ("mean, all", found["all"]["average"])]
    ]
    return _render(
        title=f"{proof['model']}, hardened by {', '.join(proof['methods'])}", words=proof["words"][:1],
        head=[f"{found['metric']} in %", "before", "after", "difference [95 %]", ""], rows=rows,
    )  # fmt: skip


def examples_html(found: Found) -> str:
    """Returns examples as a table, changes marked."""
    examples = found.examples
    head = ["outcome", "expected", "answer", "text"]
    dimensions = any(each.dimension for each in examples)
    rows = [
        [*([each.dimension, "" if each.degree is None else f"{each.degree:g}"] if dimensions else []), *_cells(each)]
        for each in examples[:ROWS]
    ]
    more = f"; the first {ROWS:,} of them here" if len(examples) > ROWS else ""
    counted = f"{len(examples):,} of {found.of:,} examples{more}"
    return _render(title=counted, head=[*(["dimension", "degree"] if dimensions else []), *head], rows=rows)


def _cells(each: Example) -> list[str]:
    texts = [marked(joined(text), edits_of(each.edits, column)) for column, text in enumerate(each.texts)]
    answer = answer_text(each.answer)
    if each.changed is not None:
        answer = Markup("{} → {}").format(answer, answer_text(each.new_answer))
    return [each.outcome, answer_text(each.target), answer, Markup("<br>").join(texts)]


def text_html(text: str) -> str:
    """Returns a table made of text as it is."""
    return f"<pre>{escape(text)}</pre>"


def _render(**content: Any) -> str:
    given: dict[str, Any] = {"verdict": None, "words": [], "picture": "", "head": [], "rows": [], **content}
    shown: Verdict | None = given["verdict"]
    if shown is not None:
        given["words"] = [line for line in shown.sentences if line]
    broken = shown.broken if shown else None
    texts = [marked(joined(text), edits_of(broken.edits, at)) for at, text in enumerate(broken.texts)] if broken else []
    about = (answer_text(broken.before), answer_text(broken.after)) if broken else ()
    return environment().get_template("notebook.html").render(**given, broken=broken, texts=texts, about=about)


def _image(svg: str) -> str:
    """Returns the address of a picture that holds the picture itself, whose style cannot reach the page around it."""
    return f"data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}" if svg else ""
