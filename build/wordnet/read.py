"""Reads WordNet's own files: synsets, ranks and frequencies of senses, and what it marks as slang, obsolete or a trade name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
USAGE = "archaism|slang|disparagement|ethnic slur|obscenity|trade name|trademark|combining form"
COARSE = "ethnic slur|obscenity"
MARKED = re.compile(
    r"\b(?P<coarse>offensive|disparaging|derogatory|vulgar|obscene|insulting|contemptuous|pejorative)\b[^;]{,20}\b(?:term|name|word|slang|expression)"
    r"|\b(?:archaic|obsolete)\b[^;]{,20}\b(?:term|name|word|use)|^ *\((?:archaic|obsolete|slang)|(?:sexual intercourse|make love)"
)
Key = tuple[str, str]  # part of speech, offset in the file


@dataclass(frozen=True)
class Synset:
    lemmas: list[str]
    pointers: list[tuple[str, Key, int, int]]  # kind, to which synset, from and to which lemma (0: all)
    satellite: bool
    gloss: str


def read(folder: Path) -> tuple[dict[Key, Synset], Counter[str]]:
    """All synsets, and how often the glosses and examples have each word."""
    synsets, gloss_words = {}, Counter[str]()
    for part, name in FILES.items():
        for line in (folder / f"data.{name}").read_text(encoding="utf-8").splitlines():
            if line.startswith(" "):  # the licence
                continue
            head, _, gloss = line.partition("|")
            gloss_words.update(re.findall("[a-z][a-z'-]*", gloss))
            field = head.split()
            count = int(field[3], 16)
            lemmas = [re.sub(r"\(\w+\)$", "", lemma).replace("_", " ") for lemma in field[4 : 4 + 2 * count : 2]]
            rest = field[5 + 2 * count :]
            pointers = [
                (rest[at], (rest[at + 2], rest[at + 1]), int(rest[at + 3][:2], 16), int(rest[at + 3][2:], 16))
                for at in range(0, 4 * int(field[4 + 2 * count]), 4)
            ]
            synsets[part, field[0]] = Synset(lemmas, pointers, field[2] == "s", gloss)
    return synsets, gloss_words


def ranks(folder: Path) -> dict[tuple[str, Key], int]:
    """Which of a lemma's senses a synset is, from 1, the most frequent first."""
    found = {}
    for part, name in FILES.items():
        for line in (folder / f"index.{name}").read_text(encoding="utf-8").splitlines():
            if not line.startswith(" "):
                field = line.split()
                for rank, offset in enumerate(field[-int(field[2]) :], 1):
                    found[field[0].replace("_", " "), (part, offset)] = rank
    return found


def frequencies(folder: Path) -> dict[tuple[str, str, int], int]:
    """How often sense-tagged text has a lemma as a part of speech in a sense."""
    found = {}
    for line in (folder / "cntlist.rev").read_text(encoding="utf-8").splitlines():
        key, rank, count = line.split()
        lemma, _, kind = key.partition("%")
        found[lemma.replace("_", " "), "nvara"[int(kind[0]) - 1], int(rank)] = int(count)
    return found


def unwanted(synsets: dict[Key, Synset]) -> set[tuple[Key, str]]:
    """Lemmas in a sense that WordNet marks as nobody's plain English; coarse words in every sense."""
    found, coarse = set(), set()
    for key, synset in synsets.items():
        marked = MARKED.search(synset.gloss.partition('"')[0])
        for kind, other, source, _ in synset.pointers:
            usage = synsets[other].lemmas if kind == ";u" else []
            if re.search(USAGE, ", ".join(usage)):
                named = [synset.lemmas[source - 1]] if source else synset.lemmas
                found |= {(key, lemma) for lemma in named}
                coarse |= set(named) if re.search(COARSE, ", ".join(usage)) else set()
        if marked:
            found |= {(key, lemma) for lemma in synset.lemmas}
            coarse |= set(synset.lemmas) if marked["coarse"] else set()
    return found | {(key, lemma) for key, synset in synsets.items() for lemma in synset.lemmas if lemma in coarse}


def licence(folder: Path) -> str:
    """What must be on all copies; it stands at the beginning of each file, in numbered lines."""
    lines = (folder / "data.noun").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.split(" ", 3)[3].rstrip() for line in lines if line[0] == " ")
