"""Draws what is judged from saved runs and from plain files: so many of each stratum, by the seed alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from ..data.dataset import joined
from ..evaluation.evaluation import Evaluation
from ..evaluation.validity import SampledCases, find_cases, open_run, read_cases, sample_trials
from ..metrics.edit import edit_distance
from ..runs.display import in_words, wanted
from ..runs.folder import BadRun, Folder
from ..runs.run import ATTACK, kind_of
from ..runs.schema import AttackLine
from ..text.random import name_bits
from .items import CLEAN, Item, Side
from .studies import StudyName

MANY = 4  # edits: so many or more are one stratum; the paper has 1, 2 and 3
MOST_VERSIONS = 26  # of a text that are ranked: each has a letter

Sides = Literal["source", "target", "both"]
Cases = Literal["broken", "all"]
Stratum = tuple[object, ...]
Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Files:
    """Texts, one per line, named as for `scuff meaning`. adv_src, adv_out: one file per attack, by its name."""

    src: str | None = None
    adv_src: Mapping[str, str] = field(default_factory=dict)
    ref: str | None = None
    out: str | None = None
    adv_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def paths(self) -> list[str]:
        given = [self.src, *self.adv_src.values(), self.ref, self.out, *self.adv_out.values()]
        return [path for path in given if path]


@dataclass(frozen=True)
class Wish:
    """What to draw: `each` items of every stratum. degree: of versions that are ranked; default the highest."""

    study: StudyName
    each: int
    seed: int = 0
    side: Sides = "source"
    cases: Cases = "all"
    degree: float | None = None

    def wants(self, side: Side) -> bool:
        return self.side in (side, "both")


def from_runs(paths: Sequence[str | Path], wish: Wish) -> list[Item]:
    """Returns items from the folders of evaluations and attacks. Raises BadRun or ValueError if they have none."""
    names = _names([Path(path).resolve().name for path in paths])
    recipes = [_recipe(Folder(path)) for path in paths]
    out: list[Item] = []
    for path, name, recipe in zip(paths, names, recipes, strict=True):
        attack = kind_of(path) == ATTACK
        if wish.study == "readability" and attack:
            raise ValueError(f"{path}: expected a run of `scuff evaluate` to rank versions of a text, got an attack")
        if wish.study == "readability":
            before = max((item.group for item in out), default=-1) + 1
            found = [replace(item, group=before + item.group) for item in _versions(open_run(path), wish)]
        elif attack:  # several runs of one recipe are told apart by their folders
            found = _attacked(Folder(path), wish, recipe if recipes.count(recipe) == 1 else name)
        else:
            found = _evaluated(open_run(path), wish)
        out += [replace(item, run=name) for item in found]
    return out


def _names(names: list[str]) -> list[str]:
    """Returns the names, those that come twice with a number."""
    often = Counter(names)
    return [f"{name}-{at}" if often[name] > 1 else name for at, name in enumerate(names, 1)]


def _recipe(folder: Folder) -> str:
    """Returns the name of the recipe of an attack; "" for an evaluation."""
    run = folder.run()
    return run["recipe"]["name"] if "recipe" in run else ""


def _chance(seed: int, *what: object) -> int:
    return int(name_bits("judge", seed, *what))


def drawn(things: Iterable[Thing], stratum: Callable[[Thing], Stratum], seed: int, each: int) -> list[Thing]:
    """Returns up to `each` things of every stratum, in a random order that depends on seed, stratum and place alone."""
    strata: dict[Stratum, list[tuple[int, int, Thing]]] = {}
    for at, thing in enumerate(things):
        key = stratum(thing)
        strata.setdefault(key, []).append((_chance(seed, *key, at), at, thing))
    return [thing for key in strata for _, _, thing in sorted(strata[key], key=lambda entry: entry[:2])[:each]]


# evaluations


def _evaluated(run: Evaluation, wish: Wish) -> list[Item]:
    cases = sample_trials(run, wish.each, broken=wish.cases == "broken", seed=wish.seed)
    out = [_case(run, cases, at) for at in range(len(cases))] if wish.wants("source") else []
    if wish.wants("target"):
        _must_give_texts(run.folder, run.truth.task)
        answered = [at for at in range(len(cases)) if isinstance(cases.answers[at], str)]
        out += [
            replace(
                _case(run, cases, at), side="target", before=str(run.data.targets[cases.example[at]]),
                after=str(cases.answers[at]),
            )
            for at in answered
        ]  # fmt: skip
        bases = [
            Item(str(line["target"]), line["clean"]["answer"], side="target", edits=0, example=line["id"])
            for line in run.folder.evaluation_results()
            if isinstance(line["clean"]["answer"], str)
        ]
        out += drawn(bases, lambda item: ("base",), wish.seed, wish.each)
    return out


def _case(run: Evaluation, cases: SampledCases, at: int) -> Item:
    example, dimension = int(cases.example[at]), run.protocol.parsed[int(cases.dimension[at])]
    return Item(
        cases.before[at], cases.after[at], attack=dimension.name, degree=run.protocol.degrees[int(cases.degree[at])],
        edits=changed_words([cases.before[at]], [cases.after[at]])[0], reached=round(float(cases.reached[at]), 6),
        example=run.data.ids[example], label="" if run.truth.task == "text" else in_words(wanted(run.truth, example)) or "none",
    )  # fmt: skip


def _must_give_texts(folder: Folder, task: str) -> None:
    if task != "text":
        raise ValueError(f"{folder.path}: expected a run of a model that writes texts for side target, got labels")


def _versions(run: Evaluation, wish: Wish) -> list[Item]:
    """Returns for some examples one case of each dimension at one degree, and the clean text: what is ranked together."""
    degrees = run.protocol.degrees
    if wish.degree is not None and wish.degree not in degrees:
        raise ValueError(f"expected a degree of the run ({', '.join(f'{d:g}' for d in degrees)}), got {wish.degree:g}")
    degree = degrees.index(wish.degree) if wish.degree is not None else len(degrees) - 1
    dimensions = run.protocol.parsed
    if not 1 < len(dimensions) < MOST_VERSIONS:
        raise ValueError(
            f"expected 2 to {MOST_VERSIONS - 1} dimensions whose versions are ranked, got {len(dimensions)}"
        )
    parts, rows = find_cases(run, broken=wish.cases == "broken")
    rows = rows[:, rows[1] == degree]
    whole = np.zeros((len(dimensions), len(run.data)), np.bool_)
    whole[rows[0], rows[2]] = True
    able = np.flatnonzero(whole.all(0)).tolist()
    if not able:
        rare = dimensions[int(whole.sum(1).argmin())].name
        raise ValueError(
            f"expected texts that every dimension can change at {degrees[degree]:g}, got none: leave out {rare}?"
        )
    chosen = sorted(able, key=lambda at: _chance(wish.seed, "text", run.data.ids[at]))[: wish.each]
    picked = []
    for example in chosen:
        for dimension in range(len(dimensions)):
            here = np.flatnonzero((rows[0] == dimension) & (rows[2] == example)).tolist()
            picked.append(min(here, key=lambda at: (_chance(wish.seed, *rows[:4, at].tolist()), at)))
    found = read_cases(run, parts, rows[:, picked])
    out = [replace(_case(run, found, at), group=at // len(dimensions), label="") for at in range(len(found))]
    firsts = out[:: len(dimensions)]
    passing = (1 + (len(dimensions) + 1) // 2,)  # the better half
    clean = [
        Item(item.before, item.before, "control", attack=CLEAN, example=item.example, accept=passing, group=item.group)
        for item in firsts
    ]
    return [*out, *clean]


# attacks


def _attacked(folder: Folder, wish: Wish, name: str) -> list[Item]:
    lines = [
        line
        for line in folder.attack_results()
        if line["adversarial"] and (wish.cases == "all" or line["status"] == "succeeded")
    ]
    by_edits = wish.study == "meaning"
    chosen = drawn(lines, lambda line: (name, min(_edits(line), MANY) if by_edits else 0), wish.seed, wish.each)
    out: list[Item] = []
    if wish.wants("source"):
        out += [_attack_item(line, name) for line in chosen]
    if wish.wants("target"):
        _must_give_texts(folder, folder.run()["data"]["task"])
        out += [
            replace(_attack_item(line, name), side="target", before=joined(line["target"]), after=answer)
            for line in chosen
            if line["adversarial"] and isinstance(answer := line["adversarial"]["answer"], str)
        ]
        bases = [
            Item(joined(line["target"]), answer, side="target", edits=0, example=line["id"])
            for line in lines
            if isinstance(answer := line["clean"]["answer"], str)
        ]
        out += drawn(bases, lambda item: ("base",), wish.seed, len(chosen))
    return out


def _edits(line: AttackLine) -> int:
    return len(line["adversarial"]["edits"]) if line["adversarial"] else 0


def _attack_item(line: AttackLine, name: str) -> Item:
    assert line["adversarial"] is not None, "chosen lines have one"
    before, after = (" ".join(map(joined, texts)) for texts in (line["texts"], line["adversarial"]["texts"]))
    label = "" if isinstance(line["clean"]["answer"], str) else in_words(line["target"]) or "none"
    return Item(
        before,
        after,
        attack=name,
        edits=_edits(line),
        reached=line["adversarial"]["changed"],
        example=line["id"],
        label=label,
    )


# files


def from_files(files: Files, wish: Wish) -> list[Item]:
    """Returns items from plain files. Raises ValueError if some are missing, or have different numbers of lines."""
    if wish.study == "validity":
        raise ValueError(
            "expected a run for the study validity, got files: raters need the labels, which files do not have"
        )
    texts = {path: read_lines(path) for path in files.paths}
    counts = {path: len(lines) for path, lines in texts.items()}
    for path, count in counts.items():
        if count != next(iter(counts.values())):
            first = next(iter(counts))
            raise ValueError(
                f"expected files of as many lines, got {counts[first]:,} in {first} and {count:,} in {path}"
            )
    if wish.study == "readability":
        return _ranked_files(files, texts, wish)
    out: list[Item] = []
    edits: dict[str, list[int]] = {}
    if files.src and files.adv_src:
        for name, path in files.adv_src.items():
            edits[name] = changed_words(texts[files.src], texts[path])
    if wish.wants("source"):
        if not (files.src and files.adv_src):
            raise ValueError("expected --src and --adv-src for side source, got too little")
        for name, path in files.adv_src.items():
            out += _pairs(texts[files.src], texts[path], name, edits[name], "source", wish)
    if wish.wants("target"):
        out += _targets(files, texts, edits, wish)
    return out


def _pairs(
    before: list[str], after: list[str], name: str, edits: Sequence[int | None], side: Side, wish: Wish
) -> list[Item]:
    """Returns pairs of lines that the attack has changed, so many for each number of edits."""

    def by_edits(at: int) -> Stratum:
        return side, name, min(edits[at] or 0, MANY)

    return [
        Item(before[at], after[at], side=side, attack=name, edits=edits[at], example=str(at + 1))
        for at in drawn((at for at, count in enumerate(edits) if count != 0), by_edits, wish.seed, wish.each)
    ]


def _targets(files: Files, texts: dict[str, list[str]], edits: dict[str, list[int]], wish: Wish) -> list[Item]:
    against = files.ref or files.out
    if not (against and files.adv_out):
        raise ValueError("expected --adv-out and --ref or --out for side target, got too little")
    out: list[Item] = []
    for name, path in files.adv_out.items():
        counts: Sequence[int | None] = edits.get(name) or [None] * len(texts[path])
        out += _pairs(texts[against], texts[path], name, counts, "target", wish)
    if files.ref and files.out:  # translations of the original inputs, as many as an attack has
        most = max(Counter(item.attack for item in out).values(), default=0)
        before, after = texts[files.ref], texts[files.out]
        out += [
            Item(before[at], after[at], side="target", edits=0, example=str(at + 1))
            for at in drawn(range(len(before)), lambda at: ("base",), wish.seed, most)
        ]
    return out


def _ranked_files(files: Files, texts: dict[str, list[str]], wish: Wish) -> list[Item]:
    if not files.src or not 1 < len(files.adv_src) < MOST_VERSIONS:
        raise ValueError(
            f"expected --src and 2 to {MOST_VERSIONS - 1} files --adv-src NAME=FILE to rank, got {len(files.adv_src)}"
        )
    clean, versions = texts[files.src], {name: texts[path] for name, path in files.adv_src.items()}
    able = [at for at, text in enumerate(clean) if all(text != lines[at] for lines in versions.values())]
    if not able:
        raise ValueError("expected lines that every file has changed, got none")
    passing = (1 + (len(versions) + 1) // 2,)
    out: list[Item] = []
    for group, at in enumerate(sorted(able, key=lambda at: _chance(wish.seed, "text", at))[: wish.each]):
        number = str(at + 1)
        out += [
            Item(clean[at], lines[at], attack=name, example=number, group=group) for name, lines in versions.items()
        ]
        out.append(Item(clean[at], clean[at], "control", example=number, accept=passing, group=group))
    return out


def read_lines(path: str) -> list[str]:
    """Returns the lines of a file without their ends. Raises ValueError if it cannot be read, is empty or no UTF-8."""
    try:
        raw = Path(path).read_bytes()
    except FileNotFoundError:
        raise ValueError(f"{path}: expected a file, got nothing of that name") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: expected a file, got a folder") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}: line {line}: expected UTF-8, got byte 0x{raw[error.start]:02x}") from None
    if not text:
        raise ValueError(f"{path}: expected texts, one per line, got an empty file")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def changed_words(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """Returns how many words were replaced, added or taken out in each text: the edit distance in words."""
    one, other = [], []
    for old, new in zip(before, after, strict=True):
        codes: dict[str, str] = {}
        one.append("".join(codes.setdefault(word, chr(0x10000 + len(codes))) for word in old.split()))
        other.append("".join(codes.setdefault(word, chr(0x10000 + len(codes))) for word in new.split()))
    return [
        max(count, int(old != new))
        for count, old, new in zip(edit_distance(one, other).tolist(), before, after, strict=True)
    ]


def must_have(items: Sequence[Item], what: str) -> None:
    """Raises BadRun if nothing was found to judge."""
    if not items:
        raise BadRun(f"{what}: expected cases to judge, got none: did nothing change, or nothing break the model?")
