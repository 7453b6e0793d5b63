"""The evidence (docs/results/teapot.json), the tables of docs/results/teapot.md and its figure, from the runs of teapot.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
from teapot import CONSTRAINTS, LANGUAGES, RANDOM, STEPS, SUBSTITUTIONS, TRAININGS, no_sign, strong, title
from teapot_findings import (
    AIM,
    BASE,
    DECREASE,
    LEFT,
    MODELS,
    SOURCE,
    SUCCESS,
    above,
    at_equal_source,
    comparisons,
    counted,
    drawn,
    estimate,
    findings,
    of_kind,
    test_score,
)

RESULTS = Path(__file__).parents[2] / "docs" / "results"
EVIDENCE, PAGE, FIGURE = RESULTS / "teapot.json", RESULTS / "teapot.md", RESULTS / "teapot-figure-1.svg"
FIGURES = Path(__file__).parent / "figures" / "teapot.json"
BEGIN, END = "<!-- teapot: made by benchmarks/papers/teapot.py page -->", "<!-- end -->"


# ---- the evidence ----


def gathered(runs: Path) -> dict[str, Any]:
    """The numbers of all models and attacks in a folder of runs."""
    models = {path.stem: read(path) for path in sorted((runs / "models").glob("*.json"))}
    attacks: dict[str, dict[str, Any]] = {}
    for path in sorted((runs / "attacks").glob("*/*.json")):
        row = read(path)
        attacks.setdefault(row["model"], {})[row["attack"]] = row
    out: dict[str, Any] = {"models": {name: model_numbers(model) for name, model in models.items()}}
    out["attacks"] = {
        model: {name: attack_numbers(row) for name, row in rows.items()} for model, rows in attacks.items()
    }
    spoken = [language for language in LANGUAGES if any(name.startswith(f"{language}-") for name in models)]
    out["compared"] = {language: comparisons(language, models, attacks) for language in spoken}
    out["stronger"] = {
        model: {name: found for name in CONSTRAINTS if (found := stronger_numbers(rows, name))}
        for model, rows in attacks.items()
    }
    for name in ("examples", "times"):
        path = runs / f"{name}.json"
        out[name] = read(path) if path.is_file() else {}
    return out


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def rounded(values: Any, digits: int = 2) -> list[float]:
    return [round(float(value), digits) for value in values]


def model_numbers(model: dict[str, Any]) -> dict[str, Any]:
    """What the tables show of a model."""
    out = {name: value for name, value in model.items() if name not in ("model", "test")}
    return {**out, **{metric: rounded(estimate(test_score(model, metric))) for metric in ("chrf", "bleu", "lower")}}


def attack_numbers(row: dict[str, Any]) -> dict[str, Any]:
    """What the tables show of an attack, in the paper's units; S as it is."""
    draws, count = drawn(len(row["id"])), len(row["id"])

    def mean(values: Any, digits: int = 2) -> list[float]:
        return rounded(estimate(draws @ np.asarray(values, np.float64) / count), digits)

    success = of_kind(SUCCESS, row)
    return {
        "of": count, "original": mean(100 * np.array(row["base"])), "decrease": mean(of_kind(DECREASE, row)),
        "source": mean(of_kind(SOURCE, row)), "left": mean(of_kind(LEFT, row)),
        "success": mean(success, 4), "succeeded": mean(100.0 * (success > 1)),
        "spec": row["spec"], "asked": row["asked"], "seconds": round(row["seconds"], 2),
    }  # fmt: skip


def stronger_numbers(rows: dict[str, Any], name: str) -> dict[str, Any] | None:
    """RDchrF of both searches at equal source chrF, and their ratio."""
    both = at_equal_source(rows, name)
    if both is None:
        return None
    ratio = np.where(both[0] > 0, both[1] / np.maximum(both[0], 1e-9), np.nan)
    return {
        "greedy": rounded(estimate(both[0])),
        "stronger": rounded(estimate(both[1])),
        "ratio": rounded(estimate(ratio)),
    }


# ---- the tables ----


def share(value: Any, digits: int = 1) -> str:
    return "" if not value else f"{value[0]:.{digits}f} [{value[1]:.{digits}f}, {value[2]:.{digits}f}]"


def line(*cells: Any) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def table(head: list[str], rows: list[list[Any]], left: int = 1) -> list[str]:
    """A table whose first columns are texts."""
    return [line(*head), "|" + "---|" * left + "---:|" * (len(head) - left), *(line(*row) for row in rows)]


def wrapped(text: str) -> list[str]:
    return fill(text, 100, break_long_words=False, break_on_hyphens=False).split("\n")


def in_short(evidence: dict[str, Any]) -> list[str]:
    """How many findings hold, and CharSwap on German, before and after training."""
    told = [
        f"{about} {yes} hold, {no} do not, {unsure} are not decided"
        for about, (yes, no, unsure) in counted(evidence).items()
        if about != "our own"
    ]
    text = f"The paper's findings, each tested in each language pair: {'; '.join(told)}."
    before, after = (
        evidence["attacks"].get(f"de-{model}", {}).get("CharSwap") for model in (BASE, f"{BASE}-swaps-1.0")
    )
    if before and after:
        text += (
            f" Training on CharSwap takes the German word LSTM's RDchrF from {share(before['decrease'])} to "
            f"{share(after['decrease'])} (the paper: 24.9 to 17.2)."
        )
    return [*wrapped(text), "", *wrapped(short_trainings(evidence))]


def short_trainings(evidence: dict[str, Any]) -> str:
    """Which models would have got better with more epochs."""
    rising = [name for name, model in evidence["models"].items() if model["best"] == model["epochs"]]
    fewest, most = (edge(model["epochs"] for model in evidence["models"].values()) for edge in (min, max))
    text = f"The trainings had {fewest} to {most} epochs. "
    if rising:
        text += (
            f"In {len(rising)} of {len(evidence['models'])} the last one was the best on the dev part, so more would have "
            f"helped: {', '.join(rising)}."
        )
    return text.strip()


def translators(evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """How good the translators are, and what they took."""
    rows = []
    for name in [f"{language}-{model}" for language in LANGUAGES for model in MODELS]:
        if not (model := evidence["models"].get(name)):
            continue
        rows.append(
            [f"{name[:2]}-en", title(name[3:]), share(model["bleu"]), share(model["lower"]), share(model["chrf"]),
             f"{model['parameters'] / 1e6:.1f}",
             " / ".join(f"{size:,}" for size in model["vocabulary"]), f"{100 * model['unknown']:.1f}",
             " of ".join(map(str, best_of(model))),
             f"{model['seconds']:.0f}"]
        )  # fmt: skip
    head = ["pair", "model", "BLEU [95 %]", "BLEU, lower case", "chrF", "millions of parameters", "pieces, source / target",
            "unknown words %", "best epoch", "seconds"]  # fmt: skip
    told = []
    for pair, known in figures["published"].items():
        scores = ", ".join(f"{model} {score}" for model, score in known["BLEU"].items())
        told.append(f"For {pair} {known['source']} prints BLEU {scores} on the same test part ({known['how']}).")
    told.append(
        "For the other two directions into English we know no published figure of this test part with enough certainty to "
        "print it: most work on Multi30k translates out of English."
    )
    return [*table(head, rows, 2), "", *wrapped(" ".join(told))]


def table_2(language: str, evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """One language pair of Table 2."""
    rows = []
    for model in MODELS:
        paper = figures["Table 2"]["rows"][title(model)][f"{language}-en"]
        for name in CONSTRAINTS:
            ours = evidence["attacks"].get(f"{language}-{model}", {}).get(name)
            if ours is None:
                continue
            harm, source = paper[name]
            rows.append(
                [title(model), name, share(ours["original"]), f"{paper['original']:.1f}", share(ours["decrease"]), f"{harm:.1f}",
                 share(ours["source"]), f"{source:.1f}", share(ours["success"], 2), f"{(harm + source) / 100:.2f}",
                 f"{ours['succeeded'][0]:.0f}", ours["of"]]
            )  # fmt: skip
    head = ["model", "attack", "original chrF", "paper", "RDchrF", "paper", "source chrF", "paper", "mean S", "paper",
            "S > 1 in %", "of"]  # fmt: skip
    return table(head, rows, 2)


def best_of(model: dict[str, Any] | None) -> list[int]:
    """The epoch that the dev part chose, and how many there were."""
    return [model["best"], model["epochs"]] if model else []


def tables_5_and_6(evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """Adversarial training of the word LSTM: the test scores, then RDchrF under CharSwap."""
    trained = {BASE: "Base", **{f"{BASE}-{name}": shown for name, shown in TRAININGS.items()}}
    five, six = [], []
    for name, shown in trained.items():
        rows: tuple[list[Any], list[Any]] = ([shown], [shown])
        for language in LANGUAGES:
            model = evidence["models"].get(f"{language}-{name}")
            chrf, bleu = figures["Table 5"]["rows"][shown][f"{language}-en"]
            ours = f"{share(model['chrf'])} ({model['bleu'][0]:.1f})" if model else ""
            rows[0].extend([ours, f"{chrf:.1f} ({bleu:.1f})", " of ".join(map(str, best_of(model)))])
            attacks = evidence["attacks"].get(f"{language}-{name}", {})
            found = attacks.get("CharSwap", {})
            left = f"{found['left'][0]:.1f}" if found else ""
            rows[1].extend(
                [share(found.get("decrease")), f"{figures['Table 6']['rows'][shown][f'{language}-en']:.1f}", left]
            )
        five.append(rows[0])
        six.append(rows[1])
    heads = [
        ["training", *(each for language in LANGUAGES for each in (f"{language}-en", "paper", third))]
        for third in ("best epoch", "chrF under attack")
    ]
    parts = ["## Table 5: chrF (BLEU) on the test part, word LSTM", "", *table(heads[0], five), ""]
    parts += ["## Table 6: RDchrF under CharSwap, word LSTM (lower is better)", "", *table(heads[1], six)]
    return [*parts, "", *times(evidence, figures)]


def times(evidence: dict[str, Any], figures: dict[str, Any]) -> list[str]:
    """What adversarial training costs, measured alone on the machine."""
    most, rows = figures["times"]["adversarial / plain training"], []
    for found in evidence.get("times") or []:
        ways = {TRAININGS.get(name.replace(" alpha ", "-"), name): ratio for name, ratio in found["ratio"].items()}
        shown = [f"{ways[name]:.2f}" if name in ways else "" for name in TRAININGS.values()]
        rows.append(
            [title(f"{found['architecture']}-{found['pieces']}"), f"{found['milliseconds']['plain']:.1f}", *shown]
        )
    if not rows:
        return []
    text = (
        f"Time of a training step; plain training is 1 (the paper: under {most:.0f}; our aim 1.3). Measured in turns, "
        f"nothing else running, by `benchmarks/translators.py`: the median of {found['rounds']} rounds of {found['steps']} steps."
    )
    return [*wrapped(text), "", *table(["model", "plain, ms", *TRAININGS.values()], rows)]


def stronger_search(evidence: dict[str, Any]) -> list[str]:
    """The stronger search beside the paper's, at equal source chrF."""
    rows = []
    for language in LANGUAGES:
        for model in MODELS:
            for name in CONSTRAINTS:
                found = evidence["stronger"].get(f"{language}-{model}", {}).get(name)
                if not found:
                    continue
                attacks = evidence["attacks"][f"{language}-{model}"]
                steps = {n: attacks[strong(name, n)] for n in STEPS if strong(name, n) in attacks}
                greedy, *stronger = (
                    f"{n}: {row['decrease'][0]:.1f} at {row['source'][0]:.1f}"
                    for n, row in ((SUBSTITUTIONS, attacks[name]), *steps.items())
                )
                rows.append(
                    [f"{language}-en", title(model), name, greedy, ", ".join(stronger),
                     share(found["stronger"]), f"{above(AIM)(found['ratio'])}: {share(found['ratio'], 2)}"]
                )  # fmt: skip
    if not rows:
        return []
    head = ["pair", "model", "attack", "greedy: RDchrF at source chrF", "stronger, by substitutions",
            "stronger at the greedy one's source chrF", f"times; at least {AIM}?"]  # fmt: skip
    return ["## A stronger search on the same candidates", "", *table(head, rows, 3)]


def others(evidence: dict[str, Any]) -> list[str]:
    """Rows that the paper has no figures of: without the sign, and at random places."""
    rows = []
    for language in LANGUAGES:
        for model in MODELS:
            attacks = evidence["attacks"].get(f"{language}-{model}", {})
            for name in (*map(no_sign, CONSTRAINTS), RANDOM):
                if ours := attacks.get(name):
                    usual = attacks.get(name.partition(",")[0], {})
                    rows.append(
                        [f"{language}-en", title(model), name, share(ours["decrease"]), share(usual.get("decrease")),
                         share(ours["source"]), share(usual.get("source")), share(ours["success"], 2),
                         share(usual.get("success"), 2)]
                    )  # fmt: skip
    if not rows:
        return []
    head = ["pair", "model", "attack", "RDchrF", "as in Table 2", "source chrF", "as in Table 2", "mean S",
            "as in Table 2"]  # fmt: skip
    return ["## Without the sign of the gradient, and without any gradient", "", *table(head, rows, 3)]


def examples(evidence: dict[str, Any]) -> list[str]:
    """The most and the least successful CharSwap attack on sentences of our own, in the style of Table 4."""
    found = sorted(evidence.get("examples") or [], key=lambda row: -(row["source"] + row["decrease"]))
    if len(found) < 2:
        return []
    parts = [
        "## Examples (Table 4)",
        "",
        *wrapped(
            f"CharSwap on the German word LSTM, on {len(found)} sentences that we wrote ourselves, since Multi30k may not be "
            "copied here: the one with the highest S and the one with the lowest."
        ),
    ]
    for says, row in (("Highest", found[0]), ("Lowest", found[-1])):
        rows = [[name, row[key]] for name, key in EXAMPLE_ROWS]
        head = f"{says} S: source chrF {100 * row['source']:.1f}, RDchrF {100 * row['decrease']:.1f}"
        parts += ["", f"{head}:", "", *table(["", "text"], rows, 2)]
    return parts


EXAMPLE_ROWS = (
    ("original", "text"), ("adversarial source", "adversarial"), ("reference", "target"), ("base output", "output"),
    ("adversarial output", "adversarial_output"),
)  # fmt: skip


def made(evidence: dict[str, Any], figures: dict[str, Any]) -> str:
    """Everything between the markers."""
    parts = [*in_short(evidence), "", "## What the paper found", "", *findings(evidence, figures), ""]
    parts += ["## The translators, on the test part", "", *translators(evidence, figures), ""]
    for language in LANGUAGES:
        if any(name.startswith(f"{language}-") for name in evidence["attacks"]):
            parts += [f"## Table 2: {language}-en", "", *table_2(language, evidence, figures), ""]
    parts += ["## Figure 1", "", f"![Source chrF and RDchrF of all attacks, the paper's and ours]({FIGURE.name})", ""]
    parts += tables_5_and_6(evidence, figures)
    for part in (stronger_search(evidence), others(evidence), examples(evidence)):
        parts += ["", *part] if part else []
    return "\n".join(parts).strip()


def write(runs: Path | None) -> int:
    """Writes evidence, page and figure. Returns an exit code."""
    from teapot_figure import figure_1

    figures = read(FIGURES)
    evidence = gathered(runs) if runs else read(EVIDENCE) if EVIDENCE.is_file() else {}
    if not evidence.get("models"):
        print(f"expected models in {EVIDENCE} or --runs FOLDER, got none")
        return 2
    if runs:
        EVIDENCE.write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    new = f"{BEGIN}\n\n{made(evidence, figures)}\n\n{END}"
    text = re.sub(f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: new, page, count=1, flags=re.S)
    PAGE.write_text(text, encoding="utf-8")
    FIGURE.write_text(figure_1(evidence, figures), encoding="utf-8")
    print(f"{PAGE}: {len(evidence['models'])} models, {sum(map(len, evidence['attacks'].values()))} attacks")
    return 0
