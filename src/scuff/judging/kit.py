"""Makes a kit: the drawn items with controls between them, blinded and shuffled, as a page, a sheet and a key."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..data.sheets import harmless, read_sheet, sheet_rows
from ..runs.folder import write_atomically
from ..stores import as_path, on_this_disk
from ..text.random import name_bits
from .items import CLEAN, Item, Key, Part, Side, named
from .page import page_of
from .ratings import RATING
from .sampling import MANY, Cases, Files, Sides, Stratum, Wish, from_files, from_runs, must_have, stratum
from .studies import CONTROLS, LANGUAGE, QUALIFYING, STUDIES, Study, StudyName, find_study

SAME: dict[StudyName, tuple[int, ...]] = {"meaning": (4, 5), "validity": (1,)}  # ratings that pass for two equal texts
OTHER: dict[StudyName, tuple[int, ...]] = {"meaning": (0, 1, 2), "validity": (0,)}  # for texts of two examples
PARTS: dict[Part, str] = {"study": "items", "control": "controls", "qualification": "to qualify raters"}

KEY, FOR_RATERS = "key.json", "raters"
PAGE, SHEET, INSTRUCTIONS = "rate.html", "rate.csv", "instructions.txt"  # what raters get


@dataclass(frozen=True)
class Kit:
    """A kit that was written. short: strata that have fewer items than were asked for, with how many they have."""

    folder: Path
    key: Key
    short: dict[str, int]

    @property
    def counts(self) -> dict[Part, int]:
        return dict(Counter(item.part for item in self.key.items))

    def __str__(self) -> str:
        counts = self.counts
        parts = [f"{counts[part]:,} {word}" for part, word in PARTS.items() if counts.get(part)]
        texts = f" of {len({item.group for item in self.key.items}):,} texts" if self.key.study == "readability" else ""
        return f"kit {self.key.kit} ({self.key.study}): {', '.join(parts)}{texts}"


def stratum_words(where: Stratum, runs: int = 1) -> str:
    """Returns a stratum in words. runs: of the kit; the run is named if there are several."""
    run, side, attack, degree, edits = where
    counted = f", {edits} edit{'s' * (edits != 1)}{' or more' * (edits == MANY)}" if edits is not None else ""
    at = f" at {degree:g}" if degree is not None else ""
    return f"{f'{run}: ' * (runs > 1)}{'outputs of ' * (side == 'target')}{attack}{at}{counted}"


def export_kit(
    runs: Sequence[str | Path],
    output: str | Path,
    *,
    files: Files | None = None,
    study: str = "meaning",
    each: int | None = None,
    side: Sides = "source",
    cases: Cases | None = None,
    degree: float | None = None,
    controls: int = CONTROLS,
    qualification: int | None = None,
    own: str | None = None,
    language: str = LANGUAGE,
    warning: str = "",
    seed: int = 0,
) -> Kit:
    """Writes a kit into a new folder: key.json, and in `raters` what raters get. `api.judge_export` explains the options."""
    about = find_study(study)
    wish = Wish(
        about.name, about.each if each is None else each, seed, side,
        cases or ("broken" if about.name == "validity" else "all"), degree,
    )  # fmt: skip
    named_files = files.paths if files else []
    _check(wish, controls, qualification)
    if bool(runs) == bool(named_files):
        raise ValueError("expected runs or files (--src, --adv-src, ...), got " + ("both" if runs else "neither"))
    folder = on_this_disk(output, "a kit")
    must_be_new(folder)
    items = from_runs(runs, wish) if files is None or runs else from_files(files, wish)
    must_have(items, ", ".join(map(str, runs or named_files)))
    short = _short(items, wish)
    if about.name != "readability":
        qualifying = (QUALIFYING if about.name == "validity" else 0) if qualification is None else qualification
        tests = read_own(own, about) if own else _controls(items, about, qualifying, seed, "qualification")
        known = _controls(items, about, controls, seed, "control")
        asked: tuple[tuple[list[Item], int, Part], ...] = (
            (known, controls, "control"),
            (tests, 0 if own else qualifying, "qualification"),
        )
        short |= {PARTS[part]: len(found) for found, count, part in asked if len(found) < count}
        items += [*known, *tests]
    sources = tuple(as_path(path).resolve().name for path in (*runs, *named_files))
    key = Key(about.name, tuple(_ordered(named(items, study, seed), about, seed)), seed, language, sources, warning)
    write_kit(key, folder)
    return Kit(folder, key, short)


def must_be_new(folder: Path) -> None:
    """Raises ValueError if a folder has something in it, which may be a rater's work."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder}: expected a new folder for the kit, got something else")


def _check(wish: Wish, controls: int, qualification: int | None) -> None:
    """Raises ValueError for options that no kit can have."""
    counts = (("each", wish.each, 1), ("controls", controls, 0), ("qualification", qualification or 0, 0))
    for name, value, least in counts:
        if value < least:
            raise ValueError(f"expected {least} or more for {name}, got {value}")
    choices = (("side", wish.side, ("source", "target", "both")), ("cases", wish.cases, ("broken", "all")))
    for name, given, known in choices:
        if given not in known:
            raise ValueError(f"expected {', '.join(known)} for {name}, got {given!r}")
    if wish.study != "meaning" and wish.side != "source":
        raise ValueError(f"expected side source for the study {wish.study}, got {wish.side}")
    if wish.study != "readability" and wish.degree is not None:
        raise ValueError(f"expected a degree for the study readability alone, got one for {wish.study}")


def _short(items: Sequence[Item], wish: Wish) -> dict[str, int]:
    """Returns the strata that have fewer items than asked for, in order. Of clean outputs are as many asked for as of others."""
    if wish.study == "readability":
        groups = len({item.group for item in items})
        return {"texts": groups} if groups < wish.each else {}
    found = Counter(stratum(item, wish.study) for item in items if item.attack != CLEAN)
    runs = len({item.run for item in items})
    few = sorted(
        (where for where, count in found.items() if count < wish.each), key=lambda where: where[:3] + _rank(where)
    )
    return {stratum_words(where, runs): found[where] for where in few}


def _rank(where: Stratum) -> tuple[float, int]:
    return where[3] or 0.0, where[4] or 0


def _controls(items: Sequence[Item], study: Study, count: int, seed: int, part: Part) -> list[Item]:
    """Returns pairs whose rating is known, each once: half of them of two equal texts, half of the texts of two examples.

    Has fewer than `count` if there are not so many texts.
    """
    sides: list[Side] = sorted({item.side for item in items})

    def pool_of(side: Side, different: bool) -> list[Item]:
        texts = {item.before: item for item in items if item.side == side}
        return sorted(texts.values(), key=lambda item: int(name_bits(part, seed, different, item.before)))

    pools = {(side, different): pool_of(side, different) for side in sides for different in (False, True)}
    out: list[Item] = []
    for at in range(min(count, 2 * max(map(len, pools.values())) * len(sides))):
        side, different, turn = sides[at // 2 % len(sides)], bool(at % 2), at // 2 // len(sides)
        pool = pools[side, different]
        if turn >= len(pool):
            continue
        one, after = pool[turn], pool[turn].before
        if different:
            rest = [*pool[turn + 1 :], *pool[:turn]]
            if not rest:
                continue
            after = next((item for item in rest if item.label != one.label), rest[0]).before
        out.append(
            Item(
                one.before, after, part, side, example=one.example, label=one.label,
                accept=(OTHER if different else SAME)[study.name],
            )
        )  # fmt: skip
    return out


def read_own(path: str, study: Study) -> list[Item]:
    """Returns qualification cases of the user's own: a CSV file with columns original, changed, rating and, if any, label."""
    out = []
    for line, row in sheet_rows(read_sheet(path), path):
        rating = row.get(RATING, "").strip()
        if not row.get("original") or not row.get("changed") or rating not in map(str, range(len(study.scale))):
            raise ValueError(
                f"{path}: line {line}: expected original, changed and a rating from 0 to {len(study.scale) - 1}, "
                f"got {', '.join(f'{name}={value!r:.20}' for name, value in row.items())}"
            )
        passing, name = (int(rating),), f"own {line}"
        out.append(
            Item(
                row["original"],
                row["changed"],
                "qualification",
                example=name,
                label=row.get("label", ""),
                accept=passing,
            )
        )
    if not out:
        raise ValueError(f"{path}: expected cases to qualify raters, got none")
    return out


def _ordered(items: Sequence[Item], study: Study, seed: int) -> list[Item]:
    """Returns the items in the order that raters see, by chance; the qualification comes first. Pairs may be flipped."""
    chance = {item.id: int(name_bits("order", seed, item.id)) for item in items}
    if study.name == "meaning":
        items = [replace(item, flipped=bool(name_bits("flip", seed, item.id) & 1)) for item in items]
    groups = sorted({item.group for item in items}, key=lambda group: int(name_bits("group", seed, group)))
    place = {group: at for at, group in enumerate(groups)}
    items = [replace(item, group=place[item.group]) for item in items]
    return sorted(items, key=lambda item: (item.part != "qualification", item.group, chance[item.id]))


def write_kit(key: Key, folder: Path) -> None:
    """Writes a kit; the key last, so that a folder that has one is whole."""
    write_for_raters(key, folder / FOR_RATERS, key.kit)
    key.write(folder / KEY)


def write_for_raters(key: Key, folder: Path, kit: str, turn: str = "") -> None:
    """Writes page, sheet and instructions. kit: whose ratings they are. turn: names another page of the same kit."""
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / PAGE, page_of(key, kit, turn).encode("utf-8", "replace"))
    write_atomically(folder / SHEET, sheet_of(key).encode("utf-8-sig", "backslashreplace"))
    write_atomically(folder / INSTRUCTIONS, instructions_of(key).encode())


def write_for_third(key: Key, ids: set[str], folder: Path) -> None:
    """Writes what a third rater decides, with the controls between it; nothing if there is nothing to decide.

    Raises ValueError for ranks, which nobody decides.
    """
    if key.study == "readability":
        raise ValueError(
            "expected the study meaning or validity for --disputed, got readability: ranks have no third rater"
        )
    if ids:
        write_for_raters(key.some(ids), folder, key.kit, "third")


def sheet_of(key: Key) -> str:
    """Returns a CSV file with an empty column `rating`. Texts that a spreadsheet would take for a formula begin with '."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\r\n")
    heads = {
        "meaning": ["text 1", "text 2"], "validity": ["original", "label", "changed"], "readability": ["set", "version"],
    }  # fmt: skip
    lines.writerow(["id", *heads[key.study], RATING, "comment"])
    for item in key.items:
        shown = {
            "meaning": [item.after, item.before] if item.flipped else [item.before, item.after],
            "validity": [item.before, item.label, item.after],
            "readability": [f"set {item.group + 1}", item.after],
        }[key.study]
        lines.writerow([item.id, *map(harmless, shown), "", ""])
    return out.getvalue()


def instructions_of(key: Key) -> str:
    """Returns what a rater needs to know, for the sheet and for the page."""
    study = STUDIES[key.study]
    if study.scale:
        scale = [f"{value}  {words}" for value, words in enumerate(study.wording(key.language))]
        fill_in = "Put a number into the column rating of every line; leave all else as it is."
    else:
        scale = ["1 reads best, 2 second best, and so on"]
        fill_in = (
            "Put the rank into the column rating; lines with the same set are ranked together. Leave all else as it is."
        )
    lines = [
        study.title, "", *([f"Warning: {key.warning}", ""] if key.warning else []), *study.instructions, "",
        study.question, *scale, "",
        f"Page: open {PAGE} in a browser; it needs no network and keeps your work on this computer. At the end save the",
        "ratings and send the file back.",
        f"Sheet: or open {SHEET} in a spreadsheet. {fill_in}",
        "A ' before a text that begins with = + - @ keeps the spreadsheet from computing it; it is not part of the text.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
