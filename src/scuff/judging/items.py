"""What raters judge, and the key that says which item is what: read and written, and checked against its own name."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal

from ..runs.folder import write_atomically
from .studies import LANGUAGE, STUDIES, StudyName

Part = Literal["study", "control", "qualification"]
Side = Literal["source", "target"]

KIND, VERSION = "scuff judge key", 1
LETTERS = "bcdfghjkmnpqrstvwxz"  # of ids: no vowels, so that no word comes up, and no digits, which a spreadsheet takes for dates
CLEAN = "clean"  # the attack of what no attack has changed


@dataclass(frozen=True)
class Item:
    """Two texts that are compared or, for readability, one version (`after`) of a text (`before`).

    part: controls and qualification have ratings that are right (`accept`; for readability, the worst rank that passes). attack:
    the dimension, perturbation or attack that made `after`. edits: replaced words. reached: the measured degree. run: which
    source it is from. flipped: raters see `after` first. group: which versions are ranked together.
    """

    before: str
    after: str
    part: Part = "study"
    side: Side = "source"
    attack: str = CLEAN
    degree: float | None = None
    edits: int | None = None
    reached: float | None = None
    example: str = ""
    run: str = ""
    label: str = ""
    accept: tuple[int, ...] = ()
    group: int = 0
    flipped: bool = False
    id: str = ""


@dataclass(frozen=True)
class Key:
    """All items of a kit in the order that raters see, with what they are. kit: a name made of all of it."""

    study: StudyName
    items: tuple[Item, ...]
    seed: int = 0
    language: str = LANGUAGE
    sources: tuple[str, ...] = ()
    warning: str = ""

    @property
    def kit(self) -> str:
        return letters(
            _plain([self.study, self.seed, self.language, self.sources, [asdict(item) for item in self.items]]), 8
        )

    def write(self, path: Path) -> None:
        content = {
            "kind": KIND, "version": VERSION, "kit": self.kit, "study": self.study, "seed": self.seed,
            "language": self.language, "sources": list(self.sources), "warning": self.warning,
            "items": [_short(item) for item in self.items],
        }  # fmt: skip
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        write_atomically(path, text.encode("utf-8", "backslashreplace"))

    def some(self, ids: set[str]) -> Key:
        """Returns the same key with some items of the study, in their order, and with what checks a rater: for a third rater."""
        return replace(self, items=tuple(item for item in self.items if item.part != "study" or item.id in ids))


def read_key(path: str | Path) -> Key:
    """Returns the key in a file. Raises ValueError if it is none, or if it was edited."""
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ValueError(f"{path}: expected the key of a kit, got nothing of that name") from None
    except IsADirectoryError:
        raise ValueError(f"{path}: expected the key of a kit (key.json), got a folder") from None
    except (UnicodeDecodeError, ValueError):
        raise ValueError(f"{path}: expected the key of a kit (key.json), got no JSON") from None
    if not isinstance(found, dict) or found.get("kind") != KIND:
        raise ValueError(f"{path}: expected the key of a kit (key.json), got another file")
    if found.get("version") != VERSION or found.get("study") not in STUDIES:
        raise ValueError(f"{path}: expected a key that this version of Scuff wrote, got another")
    try:
        items = tuple(_item(entry) for entry in found["items"])
        sources = tuple(found["sources"])
        key = Key(found["study"], items, found["seed"], found["language"], sources, found["warning"])
        named = found["kit"]
    except (KeyError, TypeError):
        raise ValueError(f"{path}: expected a key that this version of Scuff wrote, got another") from None
    if key.kit != named:
        raise ValueError(f"{path}: expected a key as `scuff judge export` wrote it, got one that was edited")
    return key


def named(items: list[Item], study: str, seed: int) -> list[Item]:
    """Returns the items with ids that say nothing about them: a hash of seed, content and place."""
    taken: set[str] = set()
    out = []
    for item in items:
        again = 0
        while (found := letters(_plain([study, seed, asdict(item), again]), 7)) in taken:
            again += 1
        taken.add(found)
        out.append(replace(item, id=found))
    return out


def letters(text: str, count: int) -> str:
    """Returns a hash of a text as letters."""
    number = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), "little")
    out = []
    for _ in range(count):
        number, at = divmod(number, len(LETTERS))
        out.append(LETTERS[at])
    return "".join(out)


def _plain(content: Any) -> str:
    return json.dumps(content, ensure_ascii=True)


def _short(item: Item) -> dict[str, Any]:
    """Returns an item without what is at its default."""
    usual = {field.name: field.default for field in fields(Item)}
    return {name: value for name, value in asdict(item).items() if name in ("id", "part") or value != usual[name]}


def _item(entry: dict[str, Any]) -> Item:
    return Item(**{**entry, "accept": tuple(entry.get("accept", ()))})
