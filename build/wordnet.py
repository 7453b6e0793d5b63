"""Write src/scuff/resources/data/wordnet.npz: WordNet 3.0 as arrays, without what Scuff never asks for.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb DIR && python build/wordnet.py DIR/usr/share/wordnet

Needs scuff[meaning]. Kept are lemmas in lower case (names are never replaced) that have a synonym or an opposite: their synsets, which
sense of theirs each is by frequency, adjective clusters, antonyms; and all phrases, names too, because the words of a fixed expression must
not be replaced one by one. Left out is what WordNet marks as obsolete, slang, offensive or a trade name. Two things are added:
- how familiar a word is: how often sense-tagged text (cntlist.rev) and the glosses and examples of WordNet have it;
- how often a lemma means what, from cntlist.rev, and how alike two synonyms are out of context, by a sentence encoder that reads both in
  the same frame ("they view it", "they watch it"; the mean of all lemmas taken off): words that mean the same only in a sense that
  nobody thinks of first can be told apart so.
scuff.language.wordnet reads the table.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parents[1] / "src/scuff/resources/data/wordnet.npz"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
PARTS = "nvars"  # s: an adjective synset that belongs to the head before it
FRAMES = {"n": "this is about the {} of it", "v": "they {} it", "a": "it is {}", "r": "it happened {}"}
USAGE = "archaism|slang|disparagement|ethnic slur|obscenity|trade name|trademark|combining form"
COARSE = "ethnic slur|obscenity"
MARKED = re.compile(
    r"\b(?P<coarse>offensive|disparaging|derogatory|vulgar|obscene|insulting|contemptuous|pejorative)\b[^;]{,20}\b(?:term|name|word|slang|expression)"
    r"|\b(?:archaic|obsolete)\b[^;]{,20}\b(?:term|name|word|use)|^ *\((?:archaic|obsolete|slang)|(?P<sexual>sexual intercourse|make love)"
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


def likeness(synsets: list[tuple[str, list[str]]]) -> list[int]:
    """Cosines in percent of every two lemmas of a synset: first with second, first with third, ..., second with third, ..."""
    from scuff.neural.encoder import Encoder, find_encoder

    synsets = [(part, lemmas) for part, lemmas in synsets if len(lemmas) > 1]
    encode = Encoder.load(find_encoder())
    vectors = {}
    for part in FRAMES:
        lemmas = sorted({lemma for mine, lemmas in synsets if mine == part for lemma in lemmas})
        found = encode([FRAMES[part].format(lemma) for lemma in lemmas])
        found -= found.mean(0)  # what the frame adds to all
        found /= np.linalg.norm(found, axis=1, keepdims=True)
        vectors |= {(part, lemma): vector for lemma, vector in zip(lemmas, found, strict=True)}
    found = []
    for part, lemmas in synsets:
        mine = np.stack([vectors[part, lemma] for lemma in lemmas])
        pairs = (mine @ mine.T)[np.triu_indices(len(lemmas), 1)]
        found += np.clip(np.rint(100 * pairs), 0, 100).astype(int).tolist()
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


def main() -> None:
    folder = Path(sys.argv[1])
    synsets, gloss_words = read(folder)
    rank, frequency = ranks(folder), frequencies(folder)
    tagged, means = Counter[str](), Counter[tuple[str, str]]()
    for (lemma, part, _), count in frequency.items():
        tagged[lemma] += count
        means[lemma, part] += count
    means.update((lemma, key[0]) for lemma, key in rank)  # one more for each sense: none is impossible
    dropped = unwanted(synsets)

    clusters = defaultdict(list)  # satellites by head
    antonyms, opposites = set(), set()
    for key, synset in synsets.items():
        for kind, other, source, target in synset.pointers:
            if kind == "&" and synset.satellite:
                clusters[other].append(key)
            if kind == "!":
                antonyms.add((synset.lemmas[source - 1], synsets[other].lemmas[target - 1]))
                if key[0] == "a":
                    opposites.add((key, other))
    opposed = {key for head, _ in opposites for key in (head, *clusters[head])}
    order = [
        (key, [at for at, m in enumerate(synsets[key].lemmas) if m == m.lower() and (key, m) not in dropped])
        for head, synset in synsets.items()
        if not synset.satellite
        for key in (head, *clusters[head])
    ]
    order = [(key, kept) for key, kept in order if len(kept) > 1 or key in opposed]
    number = {key: at for at, (key, _) in enumerate(order)}
    senses = [(key, at, synsets[key].lemmas[at]) for key, kept in order for at in kept]
    antonyms = {pair for pair in antonyms if all(lemma == lemma.lower() for lemma in pair)}
    words = sorted({lemma for _, _, lemma in senses} | {lemma for pair in antonyms for lemma in pair})
    place = {word: at for at, word in enumerate(words)}
    phrases = {lemma.lower() for synset in synsets.values() for lemma in synset.lemmas if 1 <= lemma.count(" ") <= 3}
    licence = [
        line[line.index(" ", 2) + 1 :] for line in (folder / "data.noun").read_text().splitlines() if line[0] == " "
    ]
    arrays = {
        "licence": np.frombuffer("\n".join(licence).encode(), np.uint8),  # it must be on all copies
        "words": np.frombuffer("\n".join(words).encode(), np.uint8),
        "familiar": np.array([min(tagged[word] + gloss_words[word], 255) for word in words], np.uint8),
        "part": np.array([PARTS.index("s" if synsets[k].satellite else k[0]) for k, _ in order], np.uint8),
        "size": np.array([len(kept) for _, kept in order], np.uint8),
        "word": np.array([place[lemma] for _, _, lemma in senses], np.uint32),
        "rank": np.array([rank[lemma, key] for key, _, lemma in senses], np.uint8),
        "share": np.array(
            [100 * (1 + frequency.get((m, k[0], rank[m, k]), 0)) // means[m, k[0]] for k, _, m in senses], np.uint8
        ),
        "alike": np.array(likeness([(k[0], [synsets[k].lemmas[at] for at in kept]) for k, kept in order]), np.uint8),
        "opposite": np.array(sorted((number[a], number[b]) for a, b in opposites), np.uint32),
        "antonym": np.array(sorted((place[a], place[b]) for a, b in antonyms), np.uint32),
        "phrases": np.frombuffer("\n".join(sorted(phrases - set(words))).encode(), np.uint8),
    }
    np.savez_compressed(TARGET, **arrays)
    for name, array in arrays.items():
        print(f"{name:10} {array.shape}")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB, sha256 {sha256(TARGET.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
