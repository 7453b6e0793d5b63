"""The cells of toxictrap_training.py: which models are trained, in which ways, and what attacks them, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cells import Cell

TRAP = ("unk", "delete")  # ToxicTrap, by its search
EXTEND = ("tt-deepwordbug", "tt-textbugger", "tt-a2t", "tt-pwws", "tt-textfooler")  # Table 14
SHIELDS = ("fast", "context")
CLEAN_EPOCHS, ADVERSARIAL_EPOCHS = 3, 3
GAMMA = 0.2  # of |D|, for each recipe; A2T's
TRAININGS = {
    "none": (), "AT1-unk": ("unk",), "AT1-delete": ("delete",), "AT2": EXTEND,
    **{f"AT2-without-{name}": tuple(each for each in EXTEND if each != name) for name in EXTEND},
}  # fmt: skip
KEPT = {"davidson": tuple(TRAININGS), "jigsaw": ("none", "AT1-unk"), "jigsaw-bl": ("none", "AT1-unk")}
SEVERAL = tuple(training for training in TRAININGS if training.startswith("AT2"))


@dataclass(frozen=True)
class Way:
    """A way to train on adversarial texts. shield: all texts pass it, in training as at test. of: the way whose model it goes on
    from; empty: the model without training. again: that model is attacked, too, behind its shield.
    """

    says: str
    shield: str = ""
    of: str = ""
    epochs: int = ADVERSARIAL_EPOCHS
    again: bool = False


WAYS = {
    "": Way("algorithm 2"),
    "fast": Way("trained behind `fast`", "fast"),
    "context": Way("trained behind `context`", "context"),
    "long": Way("trained behind `fast`, three times as long", "fast", epochs=3 * ADVERSARIAL_EPOCHS),
    "again": Way("trained behind `fast`, attacked and trained again", "fast", of="fast", again=True),
}
TURN = {"fast": 2.02, "context": 2.5, "long": 2.6, "again": 4.5}  # of their attacks


@dataclass(frozen=True)
class Sizes:
    """Examples to train on, training texts that a recipe attacks and test texts that are attacked, both in parts, and tests."""

    train: int = 20000
    parts: int = 25
    part: int = 400
    again_parts: int = 2
    again_part: int = 300
    test_parts: int = 5
    test_part: int = 50
    dev: int = 1000
    test: int = 2500
    tokens: int = 4096  # of a batch


TINY = Sizes(train=90, parts=1, part=4, again_parts=1, again_part=4, test_parts=1, test_part=3, dev=30, test=40)


def name_of(
    task: str, kind: str, training: str, recipe: str = "", shield: str = "", part: int | None = None, way: str = ""
) -> str:
    """The name of a cell, with gamma and epochs where they decide its numbers: those of others are never taken for it."""
    mark = "" if training == "none" and kind != "found" else f"gamma-{GAMMA:g}"
    mark += f"-epochs-{WAYS[way].epochs}" if training != "none" else ""
    parts = [task, kind, training, way, recipe, shield, mark, "" if part is None else f"{part}"]
    return "--".join(each for each in parts if each)


def label_of(training: str, way: str) -> str:
    """What a model is called in the evidence."""
    return f"{training}+{way}" if way else training


def unseen_for(recipe: str) -> str:
    """The training of several recipes that has not seen this one."""
    return "AT2" if recipe in TRAP else f"AT2-without-{recipe}"


def all_cells(tasks: Iterable[str], sizes: Sizes) -> list[Cell]:
    """All cells. Turns: training, adversarial texts, Table 8 by parts of the texts, unseen recipes, shields, further ways."""
    cells = []
    for task in tasks:
        late = 0.0 if task == "davidson" else 1.6  # the tweets first, where the paper has all rows
        long = 1.0 if task == "davidson" else 2.0
        cells.append(_cell(task, "model", "none", turn=late / 100, cost=9))
        needed = {recipe for training in KEPT[task] for recipe in TRAININGS[training]}
        for recipe in sorted(needed):
            begin = (1.0 if recipe in EXTEND else 1.5) + late
            cells += [
                _cell(task, "found", "none", recipe, part=part, turn=begin + part / 100, cost=_cost(recipe) * long,
                      needs=(name_of(task, "model", "none"),))
                for part in range(sizes.parts)
            ]  # fmt: skip
        for training in KEPT[task][1:]:
            turn = (1.4 if training in SEVERAL else 1.9) + late
            cells.append(_cell(task, "model", training, turn=turn, cost=9, needs=_found(task, training, sizes)))
        cells += _attacks(task, sizes, late, long)
        if task == "davidson":
            for way in list(WAYS)[1:]:
                cells += _way(task, way, sizes)
    return cells


def _found(task: str, training: str, sizes: Sizes) -> tuple[str, ...]:
    """The cells of the adversarial texts of a training."""
    return tuple(
        name_of(task, "found", "none", recipe, part=part)
        for recipe in TRAININGS[training]
        for part in range(sizes.parts)
    )


def _attacks(task: str, sizes: Sizes, late: float, long: float) -> list[Cell]:
    """The cells of attacks and of clean scores behind shields, of models that were trained without them."""
    rows = [("none", recipe, "", 2.0) for recipe in (*TRAP, *EXTEND)]
    rows += [(f"AT1-{recipe}", recipe, "", 2.0) for recipe in TRAP]
    rows += [(unseen_for(recipe), recipe, "", 2.0) for recipe in (*TRAP, *EXTEND)]
    rows += [(unseen_for(recipe), recipe, shield, 2.3) for recipe in (*TRAP, *EXTEND) for shield in SHIELDS]
    rows += [("none", recipe, shield, 3.5) for recipe in TRAP for shield in SHIELDS]
    rows += [("AT1-unk", "unk", shield, 3.5) for shield in SHIELDS]
    cells = []
    for part in range(sizes.test_parts):
        for training, recipe, shield, turn in rows:
            if training in KEPT[task] and (task == "davidson" or recipe == "unk"):
                cells.append(_cell(
                    task, "attack", training, recipe, shield, part, turn=turn + late + 0.05 * part,
                    cost=_cost(recipe, shield) * long, needs=(name_of(task, "model", training),),
                ))  # fmt: skip
    for training in KEPT[task]:
        for shield in SHIELDS if "without" not in training else ():
            needs = (name_of(task, "model", training),)
            cells.append(_cell(task, "score", training, shield=shield, turn=2.35 + late, cost=5, needs=needs))
    return cells


def _way(task: str, way: str, sizes: Sizes) -> list[Cell]:
    """The cells of a further way: the models, what attacks them again, and the attacks on the test texts."""
    about, turn = WAYS[way], TURN[way]
    cells = []
    for training in SEVERAL:
        before = name_of(task, "model", training, way=about.of) if about.of else ""
        needs = _found(task, training, sizes)
        if about.again:
            again = [
                _cell(task, "found", training, recipe, part=part, way=way, turn=turn - 0.4 + part / 100, cost=2 * _cost(recipe),
                      needs=(before,))
                for recipe in TRAININGS[training] for part in range(sizes.again_parts)
            ]  # fmt: skip
            cells += again
            needs += tuple(cell.name for cell in again)
        begin = turn - 0.2 if about.of or turn > 2.5 else 1.45
        cells.append(_cell(task, "model", training, way=way, turn=begin, cost=9, needs=needs))
    for recipe in (*TRAP, *EXTEND):
        training = unseen_for(recipe)
        for part in range(sizes.test_parts):
            cells.append(_cell(
                task, "attack", training, recipe, about.shield, part, way, turn=turn + 0.05 * part,
                cost=_cost(recipe, about.shield), needs=(name_of(task, "model", training, way=way),),
            ))  # fmt: skip
    return cells


def _cost(recipe: str, shield: str = "") -> float:
    slow = {"": 1.0, "fast": 1.5, "context": 4.0}[shield]
    return slow * {"tt-textfooler": 3.0, "tt-pwws": 2.0, "tt-deepwordbug": 0.5}.get(recipe, 1.0)


def _cell(
    task: str, kind: str, training: str, recipe: str = "", shield: str = "", part: int | None = None, way: str = "", *,
    turn: float, cost: float, needs: tuple[str, ...] = (),
) -> Cell:  # fmt: skip
    given = {
        "task": task, "kind": kind, "training": training, "recipe": recipe, "shield": shield, "part": part, "way": way,
    }  # fmt: skip
    like = f"{task} {kind} {recipe} {shield} {WAYS[way].epochs if kind == 'model' else ''}"
    return Cell(name_of(task, kind, training, recipe, shield, part, way), like, given, turn, cost, needs)
