"""Draws what is judged from saved runs and from plain files: so many of each stratum, by the seed alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from ..data.aligned import aligned_blocks
from ..data.dataset import joined
from ..evaluation.evaluation import Evaluation
from ..evaluation.validity import SampledCases, find_cases, open_run, read_cases, sample_trials
from ..metrics.edit import edit_distance
from ..runs.display import in_words, wanted
from ..runs.folder import BadRun, Folder
from ..runs.run import ATTACK, kind_of
from ..runs.schema import AttackLine
from ..stores import as_path
from ..text.random import name_bits
from .items import CLEAN, Item, Side
from .studies import StudyName

MANY = 4  # edits: so many or more are one stratum; the paper has 1, 2 and 3
MOST_VERSIONS = 26  # of a text that are ranked: each has a letter

Sides = Literal["source", "target", "both"]
Cases = Literal["broken", "all"]
Stratum = tuple[str, Side, str, float | None, int | None]  # run, side, attack, degree, number of edits
Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Files:
    """Texts, one per line, named as for `scuff meaning`. adv_src, adv_out: one file per attack, by its name."""

    src: str | None = None
    adv_src: Mapping[str, str] = field(default_factory=dict)
    ref: str | None = None
    out: str | None = None
    adv_out: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None

    @property
    def paths(self) -> list[str]:
        given = [self.src, *self.adv_src.values(), self.ref, self.out, *self.adv_out.values()]
        return [path for path in given if path]

    def read(self) -> dict[str, list[str]]:
        """Returns the texts of each file. Raises BadInput if one cannot be read, or they have different numbers of lines."""
        columns = {
            str(at): path for at, path in enumerate(self.paths)
        }  # a path may be there twice, standard input may not
        texts: dict[str, list[str]] = {at: [] for at in columns}
        for block in aligned_blocks(columns, self.encoding):
            for at, lines in block.items():
                texts[at] += lines
        return {path: texts[at] for at, path in columns.items()}


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
    twice = [name for name, count in Counter(str(as_path(path).resolve()) for path in paths).items() if count > 1]
    if twice:
        raise ValueError(f"expected each run once, got {twice[0]} twice")
    names = _names([as_path(path).resolve().name for path in paths])
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
        empty = {item.group for item in found if not _has_texts(item)} if wish.study == "readability" else set()
        out += [replace(item, run=name) for item in found if _has_texts(item) and item.group not in empty]
    return out


def _has_texts(item: Item) -> bool:
    """Returns whether a rater sees two texts: nobody can rate an empty box."""
    return bool(item.before.strip() and item.after.strip())


def edits_band(item: Item) -> int | None:
    """Returns the number of edits, MANY for more; None if it is not known or does not count, since the item has a degree."""
    return None if item.edits is None or item.degree is not None else min(item.edits, MANY)


def stratum(item: Item, study: StudyName) -> Stratum:
    """Returns what `each` items are drawn of: run, side, attack, and the degree or, for meaning, the number of edits."""
    band = edits_band(item) if study == "meaning" else None
    return item.run, item.side, item.attack, item.degree, band


def better_half(versions: int) -> tuple[int]:
    """Returns the worst rank with which the clean text is in the better half of so many others and itself."""
    return ((versions + 2) // 2,)


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
        out += drawn(bases, lambda item: stratum(item, wish.study), wish.seed, wish.each)
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
    passing = better_half(len(dimensions))
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
    items = [_attack_item(line, name) for line in lines]
    able = [at for at, item in enumerate(items) if _has_texts(item)]
    chosen = drawn(able, lambda at: stratum(items[at], wish.study), wish.seed, wish.each)
    out: list[Item] = []
    if wish.wants("source"):
        out += [items[at] for at in chosen]
    if wish.wants("target"):
        _must_give_texts(folder, folder.run()["data"]["task"])
        out += [
            replace(items[at], side="target", before=joined(lines[at]["target"]), after=answer)
            for at in chosen
            if (attacked := lines[at]["adversarial"]) and isinstance(answer := attacked["answer"], str)
        ]
        bases = [
            Item(joined(line["target"]), answer, side="target", edits=0, example=line["id"])
            for line in lines
            if isinstance(answer := line["clean"]["answer"], str)
        ]
        out += drawn(bases, lambda item: stratum(item, wish.study), wish.seed, len(chosen))
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
    unknown = sorted(set(files.adv_out) - set(files.adv_src)) if files.adv_src else []
    if unknown:
        known = ", ".join(files.adv_src)
        raise ValueError(f"expected a name of --adv-src ({known}) for --adv-out, got {unknown[0]!r}")
    texts = files.read()
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

    items = (
        Item(before[at], after[at], side=side, attack=name, edits=count, example=str(at + 1))
        for at, count in enumerate(edits)
        if count != 0
    )
    return drawn(filter(_has_texts, items), lambda item: stratum(item, wish.study), wish.seed, wish.each)


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
        bases = (
            Item(before, after, side="target", edits=0, example=str(at))
            for at, (before, after) in enumerate(zip(texts[files.ref], texts[files.out], strict=True), 1)
        )
        out += drawn(filter(_has_texts, bases), lambda item: stratum(item, wish.study), wish.seed, most)
    return out


def _ranked_files(files: Files, texts: dict[str, list[str]], wish: Wish) -> list[Item]:
    if not files.src or not 1 < len(files.adv_src) < MOST_VERSIONS:
        raise ValueError(
            f"expected --src and 2 to {MOST_VERSIONS - 1} files --adv-src NAME=FILE to rank, got {len(files.adv_src)}"
        )
    clean, versions = texts[files.src], {name: texts[path] for name, path in files.adv_src.items()}
    able = [
        at
        for at, text in enumerate(clean)
        if text.strip() and all(text != lines[at] and lines[at].strip() for lines in versions.values())
    ]
    if not able:
        raise ValueError("expected lines that every file has changed, got none")
    passing = better_half(len(versions))
    out: list[Item] = []
    for group, at in enumerate(sorted(able, key=lambda at: _chance(wish.seed, "text", at))[: wish.each]):
        number = str(at + 1)
        out += [
            Item(clean[at], lines[at], attack=name, example=number, group=group) for name, lines in versions.items()
        ]
        out.append(Item(clean[at], clean[at], "control", example=number, accept=passing, group=group))
    return out


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
