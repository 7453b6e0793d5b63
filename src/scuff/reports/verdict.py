"""The verdict of a saved run, without its model: three plain sentences, one text that broke, and what to do next."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from markupsafe import Markup

from ..attacks.outcomes import NO_ANSWER
from ..data.dataset import joined
from ..metrics.interval import wilson
from ..runs.display import visible
from ..runs.folder import Folder
from ..runs.schema import (
    PROBLEMS,
    Answer,
    AttackLine,
    AttackSummary,
    Cell,
    DimensionScores,
    Edit,
    EvaluationSummary,
    RunFile,
    Texts,
)
from .advice import HELD, Step, steps_of_attack, steps_of_evaluation
from .attack_tables import measure
from .evaluation_tables import harm_measure
from .formatting import many, percent, wrapped
from .groups import shown_name
from .live import marked_line
from .notes import FEW
from .page import Example, answer_text, escaped
from .ways import changed_so, perturbation, way_of
from .zeroe import is_zeroe, mode, red_line

COUNTED = ("accuracy", "exact match")  # metrics whose score is a share of texts that are right
EVERYDAY = ("keyboard", "typo", "natural")  # the perturbations that stand for ordinary noise, if a run has them
TENTH = 0.1  # the degree at which that is told


@dataclass(frozen=True)
class Broken:
    """A text that a change broke. how: what was done to it."""

    how: str
    texts: Texts
    edits: list[Edit]
    before: Answer
    after: Answer

    @property
    def example(self) -> Example:
        """As pages show it."""
        before, after = answer_text(self.before), answer_text(self.after)
        return Example(Markup("{}: {} → {}").format(escaped(self.how), before, after), self.texts, self.edits)

    def line(self, colour: bool = False, width: int | None = None) -> str:
        """As a terminal shows it, cut to so many letters."""
        return marked_line(self.texts, self.edits, self.before, self.after, colour, width)


@dataclass(frozen=True)
class Verdict:
    """What a run says in short. caution: what limits that, as few texts; "" if nothing."""

    sentences: tuple[str, str, str]
    caution: str
    broken: Broken | None
    steps: tuple[Step, ...]

    def text(self, colour: bool = False, width: int | None = None) -> str:
        """Returns the verdict as lines for a terminal of that width. Commands are never cut or wrapped, so that they can be
        copied.
        """
        lines = [wrapped(line, width=width) for line in (*self.sentences, self.caution) if line]
        if self.broken:
            shown = self.broken.line(colour, width - 2 if width else None)
            lines += ["", wrapped(f"Broken by {self.broken.how}:", width=width), f"  {shown}"]
        for number, step in enumerate(self.steps, 1):
            lines += ["", wrapped(f"{number}. {step.words}", width=width), f"     {step.command}"]
        return "\n".join(lines)

    def markdown(self) -> str:
        """Returns the verdict as Markdown."""
        lines = [" ".join(map(_markdown, filter(None, self.sentences)))]
        if self.caution:
            lines += ["", f"*{_markdown(self.caution)}*"]
        if self.broken:
            lines += ["", f"Broken by {_markdown(self.broken.how)}:", "", _code(self.broken.line())]
        for number, step in enumerate(self.steps, 1):
            lines += ["", f"{number}. {_markdown(step.words)}", "", *(f"   {line}" for line in _fenced(step.command))]
        return "\n".join(lines) + "\n"


def _markdown(text: str) -> str:
    """Returns text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|~])", r"\\\1", text)


def _code(text: str) -> str:
    """Returns text between more backticks than it has itself."""
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{ticks} {text} {ticks}"


def _fenced(command: str) -> list[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", command)), default=0))
    return [f"{fence}sh", *command.splitlines(), fence]


def verdict_of(folder: Folder) -> Verdict:
    """Returns the verdict of a finished run. Raises BadRun if the folder has no summary of this version."""
    if "kind" in folder.read_json("summary.json"):
        return _of_attack(folder, folder.attack_summary(), folder.run())
    return _of_evaluation(folder, folder.evaluation_summary(), folder.run())


# an evaluation


def _of_evaluation(folder: Folder, summary: EvaluationSummary, run: RunFile) -> Verdict:
    weakest = _weakest(summary)
    sentences = (_clean(summary), _weakness(summary, weakest), _attacker(summary, weakest))
    broken = _broken_case(folder, summary, weakest)
    return Verdict(sentences, _caution(summary), broken, tuple(steps_of_evaluation(summary, run)))


def _weakest(summary: EvaluationSummary) -> DimensionScores | None:
    """Returns the dimension that harms most, of those that a model does not guide if there are some; None if none is known."""
    known = [summary["dimensions"][entry["dimension"]] for entry in summary["harm"] if entry["left"] is not None]
    return next((content for content in known if content["setting"] == "rule"), known[0] if known else None)


def _is_counted(summary: EvaluationSummary) -> bool:
    return summary["metric"] in COUNTED and summary["task"] != "tokens"


def _right(summary: EvaluationSummary, cell: Cell) -> str:
    """Returns how often a model is right under a change: as a number of the clean texts, or a percentage if answers are missing
    or the metric does not count texts.
    """
    value, clean = cell["average"]["value"], summary["clean"]
    if value is None:
        return "an unknown number"
    whole = cell["examples"] == clean["answered"] == clean["examples"] and not any(cell[name] for name in PROBLEMS)
    return f"{value * cell['examples']:.0f}" if whole and _is_counted(summary) else f"{percent(value)} %"


def _clean(summary: EvaluationSummary) -> str:
    clean, value = summary["clean"], summary["clean"]["score"]["value"]
    of = many(clean["answered"], "clean text")
    if clean["answered"] < clean["examples"]:
        of = f"the {clean['answered']:,} of {many(clean['examples'], 'clean text')} that it answered"
    if value is None:
        return f"Nothing is known of {many(clean['examples'], 'clean text')}."
    everyday = _everyday(summary)
    if not _is_counted(summary):
        more = f"; {_right(summary, everyday[1])} with {changed_so(*everyday)}" if everyday else ""
        return f"{_start(summary['metric'])} {percent(value)} % on {of}{more}."
    more = f"; on {_right(summary, everyday[1])}, on average, with {changed_so(*everyday)}" if everyday else ""
    return f"Right on {value * clean['answered']:,.0f} of {of}{more}."


def _start(name: str) -> str:
    return name[:1].upper() + name[1:] if name.islower() else name


def _everyday(summary: EvaluationSummary) -> tuple[DimensionScores, Cell] | None:
    """Returns the dimension that is nearest to ordinary noise, and its cell at a tenth or near it; None if nothing is known."""
    contents = [content for content in summary["dimensions"].values() if content["setting"] == "rule"]
    found = sorted(
        (content for content in contents or summary["dimensions"].values() if _near(content, TENTH)), key=_how_everyday
    )
    cell = _near(found[0], TENTH) if found else None
    return (found[0], cell) if cell else None


def _how_everyday(content: DimensionScores) -> tuple[int, bool]:
    name = perturbation(content["spec"])
    return EVERYDAY.index(name) if name in EVERYDAY else len(EVERYDAY), content["unit"] != "characters"


def _near(content: DimensionScores, degree: float) -> Cell | None:
    """Returns the cell with the nearest degree that has a score; None if none has."""
    known = [cell for cell in content["degrees"] if cell["average"]["value"] is not None]
    return min(known, key=lambda cell: abs(cell["degree"] - degree), default=None)


def _weakness(summary: EvaluationSummary, weakest: DimensionScores | None) -> str:
    cell = _near(weakest, 1.0) if weakest else None
    if weakest is None or cell is None:
        if summary["clean"]["score"]["value"] == 0:  # then no share of it can be left
            return f"Its clean {summary['metric']} is 0 %, which no change can lower: are labels and columns right?"
        return "Nothing is known of changed texts: none was answered."
    left = next(e["left"] for e in summary["harm"] if summary["dimensions"][e["dimension"]] is weakest)
    guided = f", chosen by its {weakest['setting']}s," if weakest["setting"] != "rule" else ""
    score = harm_measure(summary)
    if left is not None and left >= HELD:
        alike = sum(content["setting"] == weakest["setting"] for content in summary["dimensions"].values())
        how = " of random changes" if alike < len(summary["dimensions"]) else ""
        return (
            f"No weak spot in {many(alike, 'dimension')}{how}: it keeps at least {percent(left)} % of its clean {score}, even "
            f"with {changed_so(weakest, cell)}{guided.rstrip(',')}."
        )
    name = way_of(weakest).noun
    if score != summary["metric"] or not _is_counted(summary):
        return f"Weakest: {name}; with {changed_so(weakest, cell)}{guided} it keeps {percent(left)} % of its clean {score}."
    return f"Weakest: {name}; right on {_right(summary, cell)} with {changed_so(weakest, cell)}{guided.rstrip(',')}."


def _attacker(summary: EvaluationSummary, weakest: DimensionScores | None) -> str:
    """Returns what someone does who asks the model, or tries often; of Zéroe's protocol, how many fall below its red line."""
    guided = [content for content in summary["dimensions"].values() if content["setting"] != "rule"]
    cells = [(content, cell) for content in guided if (cell := _near(content, TENTH))]
    if cells:
        content, cell = min(cells, key=lambda pair: pair[1]["average"]["value"] or 0)
        found = _right(summary, cell) if not _is_counted(summary) else f"right on {_right(summary, cell)}"
        return f"An attacker who sees its {content['setting']}s leaves it {found} with {changed_so(content, cell)}."
    red = red_line(summary)["left"]
    if is_zeroe(summary) and red is not None:
        lefts = [
            content["degrees"][-1].get("left", {"value": None})["value"] for content in summary["dimensions"].values()
        ]
        known = [left for left in lefts if left is not None]
        highest = mode(summary["protocol"]["degrees"][-1])
        return (
            f"Worse than a model that has understood nothing at level {highest} (Zéroe's red line): "
            f"{sum(left < red for left in known)} of {many(len(known), 'perturbation')}."
        )
    if weakest is None:
        return "So nothing is known of an attacker."
    last = weakest["degrees"][-1]
    tries, broken = sum(cell["cases_each"] or 0 for cell in weakest["degrees"]), last["success"]
    if broken["rate"] is None:
        worst = percent(last["worst"]["value"])
        return f"In the worst case of {_versions(tries)} of each text, its {summary['metric']} is {worst} %."
    fell = f"{broken['rate'] * broken['of']:,.0f} of the {broken['of']:,} that {_were(broken['of'])} right"
    return f"Whoever tries {_versions(tries)} of a text breaks {fell}."


def _versions(tries: float) -> str:
    return f"up to {tries:.0f} such versions" if round(tries) != 1 else "one such version"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _caution(summary: EvaluationSummary) -> str:
    """Returns that examples are few or answers are missing."""
    clean = summary["clean"]
    lost = sum(
        cell[name] for content in summary["dimensions"].values() for cell in content["degrees"] for name in PROBLEMS
    )
    out = []
    if clean["examples"] < FEW:
        low, high = clean["score"]["interval"]
        ends = f"{percent(low)} to {percent(high)} %"
        out.append(f"{many(clean['examples'], 'text')}: few, so the clean score may be anything from {ends}.")
    if lost:
        out.append(f"{lost:,} of {summary['queries']['cases']:,} changed texts have no answer.")
    return " ".join(out)


def _broken_case(folder: Folder, summary: EvaluationSummary, weakest: DimensionScores | None) -> Broken | None:
    """Returns a failure of a text that was right, of the weakest dimension if it has one: at the smallest degree one that the
    model is sure of, or that costs most; None if there is none.
    """
    names = [name for name, content in summary["dimensions"].items() if content is weakest]
    best: tuple[bool, bool, float, float, int] | None = None
    found: Broken | None = None
    for line in folder.evaluation_results():
        for name, content in line["dimensions"].items():
            case = content["broken_by"]
            if case is None or case["answer"] is None or name not in summary["dimensions"]:
                continue
            length = sum(len(joined(text)) for text in line["texts"])
            lost = (line["clean"]["score"] or 0.0) - (case["score"] or 0.0)
            sure = case["answer"].get("score", 0.0) if isinstance(case["answer"], dict) else lost
            size = (name not in names, line["clean"]["score"] != 1, case["degree"], -round(sure, 1), length)
            if best is None or size < best:
                best = size
                degree = f"level {mode(case['degree'])}" if is_zeroe(summary) else f"degree {case['degree']:g}"
                how = f"{way_of(summary['dimensions'][name]).noun} ({shown_name(summary, name)}, {degree})"
                found = Broken(how, line["texts"], case["edits"], line["clean"]["answer"], case["answer"])
    return found


# an attack


def _of_attack(folder: Folder, summary: AttackSummary, run: RunFile) -> Verdict:
    lines = [line for line in folder.attack_results() if line["status"] == "succeeded"]
    sentences = (_before_and_after(summary), _fell(summary), _questions(summary, run, lines))
    return Verdict(
        sentences, _attack_caution(summary), _broken_text(summary, lines), tuple(steps_of_attack(summary, run))
    )


def _before_and_after(summary: AttackSummary) -> str:
    name, examples, clean, after = summary["recipe"]["name"], summary["examples"], summary["clean"], summary["after"]
    if "tradeoff" in summary:
        found = summary["tradeoff"]
        score = measure(found["metric"])
        return (
            f"{score} of its answers: {percent(found['before']['value'])} % before {name}, {percent(found['after']['value'])} % "
            f"after it ({found['of']:,} attacked). The attacked texts keep {percent(found['source']['value'])} % of the "
            f"originals ({measure(found['source_metric'])})."
        )
    if clean["value"] is None or after["value"] is None:
        return f"Nothing is known of {many(examples, 'text')}."
    texts = many(examples, "clean text")
    if summary["task"] == "tokens" or summary["unanswered"]:
        score = "Token accuracy" if summary["task"] == "tokens" else "Accuracy"
        return f"{score} {percent(clean['value'])} % on {texts}; {percent(after['value'])} % after {name}."
    right, left = clean["value"] * examples, after["value"] * examples
    return f"Right on {right:,.0f} of {texts}; on {left:,.0f} after {name}."


def _fell(summary: AttackSummary) -> str:
    success, valid = summary["success"], summary["valid"]
    if not success["of"]:
        return "No text was attacked: the goal applies to none."
    worst = _weakest_label(summary)
    if not success["count"]:
        return f"It held: none of {many(success['of'], 'attacked text')} fell."
    near = "none" if not valid["count"] else f"{valid['count']:,}"
    kept = f"{near} of these {'stays' if valid['count'] == 1 else 'stay'} near in meaning"
    return f"{worst}{success['count']:,} of {many(success['of'], 'attacked text')} fell; {kept}."


def _weakest_label(summary: AttackSummary) -> str:
    """Returns the label whose texts surely fall most easily, so that a label of few texts is not it by chance; "" if there is no
    other, or all fall alike.
    """
    rates = {label: entry["count"] / entry["of"] for label, entry in summary["labels"].items() if entry["of"]}
    if len(rates) < 2 or not any(rates.values()) or len(set(rates.values())) == 1:
        return ""
    label = max(rates, key=lambda name: wilson(rates[name], summary["labels"][name]["of"])[0])
    entry = summary["labels"][label]
    shown = visible(label) or "no label"
    return f"Weakest: {shown}; {entry['count']:,} of its {many(entry['of'], 'text')} fell. In all, "


def _questions(summary: AttackSummary, run: RunFile, lines: list[AttackLine]) -> str:
    search = summary["recipe"]["search"].partition("(")[0]
    access = run["model"]["access"]
    sees = (
        "gradients" if search in ("gradient", "substitution") else "scores" if access != "decision" else "answers alone"
    )
    sees = "answers alone" if search == "best-of" else sees
    asked = [line["reached"] for line in lines if line["reached"]]
    limit = summary["queries"]["limit"]
    most = f", of at most {limit:,} each" if limit else ""
    if not asked:
        tried = summary["queries"]["mean"]
        if tried is None:
            return f"So nothing is known of an attacker who sees {sees}."
        return f"An attacker who sees {sees} finds nothing with {tried:,.0f} questions for each text{most}."
    return f"An attacker who sees {sees} needs {many(round(median(asked)), 'question')} for a text that falls (median{most})."


def _attack_caution(summary: AttackSummary) -> str:
    of, out = summary["success"]["of"], []
    if 0 < of < FEW:
        low, high = summary["success"]["interval"]
        out.append(
            f"{many(of, 'attacked text')}: few, so the success rate may be anything from {percent(low)} to {percent(high)} %."
        )
    if errors := summary["status"]["error"]:
        out.append(f"{many(errors, 'attack')} ended in an error and {'counts' if errors == 1 else 'count'} as failed.")
    if any(why.startswith(NO_ANSWER) for why in summary["skipped"]) or summary["unanswered"]:
        out.append(f"{many(summary['unanswered'], 'text')} had no answer.")
    return " ".join(out)


def _broken_text(summary: AttackSummary, lines: list[AttackLine]) -> Broken | None:
    """Returns the success that changes least, a valid one if there is one; None if there is none."""

    def size(line: AttackLine) -> Iterator[float]:
        tried = line["adversarial"]
        assert tried is not None
        yield from (not tried["valid"], tried["changed"], sum(len(joined(text)) for text in line["texts"]))

    found = min((line for line in lines if line["adversarial"]), key=lambda line: tuple(size(line)), default=None)
    if found is None or found["adversarial"] is None:
        return None
    tried = found["adversarial"]
    return Broken(summary["recipe"]["name"], found["texts"], tried["edits"], found["clean"]["answer"], tried["answer"])
