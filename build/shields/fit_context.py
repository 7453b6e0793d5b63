"""Fits what tier `context` decides by, on dev texts: the log odds of a change.

    PYTHONPATH=src SCUFF_SHARED=../shared python build/shields/fit_context.py [--texts 20]

Prints the constants of scuff/shields/restore/context.py. Noise comes from build/shields/noise.py and from people's own misspellings, many
in a text or only one. Half of each dev set, and of the misspellings, is for fitting; how good it is, is printed for the other half.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import zipfile
import zlib
from collections.abc import Container
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import noise
import numpy as np

from scuff.shields.lexicon import lexicon
from scuff.shields.restore import context
from scuff.text.corpus import Corpus
from scuff.text.ragged import Ragged

SHARED = Path(os.environ.get("SCUFF_SHARED", "../shared"))
SETS = ("wikitext", "agnews", "jigsaw", "sst2")
FIT, JUDGE = (1, (1, 2)), (0, (3, 4))  # half of each set, and the checksums of the words whose real errors are put in
DOUBTED = 0.15  # the share of doubted words from which on a comment does not count as clean
WRONG, SPOILT = 0.2, 0.05  # what a wrong guess for a changed word weighs: one error in a text, and many
FEW, BARE = 15, 17  # places in the evidence: texts with few changes, and those of them without capitals


def text_of(words: list[str], between: list[str]) -> str:
    return "".join(part for pair in zip(between, [*words, ""], strict=True) for part in pair)


class Case:
    """Noisy texts with the words that were meant, one per unit."""

    def __init__(self, name: str, pieces: list[noise.Piece], noisy: list[list[str]]) -> None:
        self.name = name
        fine = [at for at, new in enumerate(noisy) if len(new) == len(pieces[at][0])]
        self.corpus = Corpus.of([text_of(noisy[at], pieces[at][1]) for at in fine], ids=fine)
        self.meant = [word for at in fine for word in pieces[at][0]]
        self.units = context.Units.of(self.corpus)
        count = np.bincount(self.units.spans.row, minlength=len(fine))
        good = count == np.array([len(noisy[at]) for at in fine])
        if not good.all():
            keep = [at for at, ok in zip(fine, good, strict=True) if ok]
            self.__init__(name, [pieces[at] for at in keep], [noisy[at] for at in keep])  # type: ignore[misc]
            return
        self.truth = lexicon().number(Ragged.of(self.meant))
        seen = self.units.text.strings()
        self.changed = np.array([a.lower() != b.lower() for a, b in zip(seen, self.meant, strict=True)])

        self.pairs = context.Pairs.of(self.corpus)
        self.right = ~self.changed & self._surely()

    def _surely(self) -> Any:
        """Which words are no errors of people: known ones, names by their capital, and all of edited text that a dictionary has.

        A comment of which the network doubts many words is no clean English.
        """
        page = context.Page.of(self.corpus, self.units.spans)
        named = context._capitals(page) & ~page.starts
        listed = np.array([word.lower() in right_words() for word in self.meant], np.bool_)
        out = ~page.unknown | named | listed | ("wikitext" in self.name)
        if self.pairs is not None and "jigsaw" in self.name and not self.changed.any():
            out[self.pairs.look[self.pairs.rate > np.log(DOUBTED)]] = False
        return out

    def propose(self) -> tuple[Any, Any, Any]:
        """Units, the best word of each, and the evidence."""
        pairs = self.pairs
        if pairs is None:
            return np.empty(0, np.int64), np.empty(0, np.int64), np.empty((0, context.WEIGHTS.size))
        best, _, evidence = pairs.judged()
        return pairs.look[pairs.found.of[best]], pairs.found.word[best], evidence


@cache
def right_words() -> frozenset[str]:
    """Words that are right for sure: in a dictionary of pronunciations or of meanings, or in articles that were edited."""
    out: set[str] = set()
    with zipfile.ZipFile(SHARED / "data" / "nltk_data" / "corpora" / "cmudict.zip") as file:
        out |= {line.split()[0].lower() for line in file.read("cmudict/cmudict").decode("latin-1").splitlines() if line}
    with zipfile.ZipFile(SHARED / "data" / "nltk_data" / "corpora" / "wordnet.zip") as file:
        for name in ("noun", "verb", "adj", "adv"):
            lines = file.read(f"wordnet/index.{name}").decode().splitlines()
            out |= {word for line in lines if line[0] != " " for word in line.split()[0].split("_")}
    for piece in noise.pieces(SHARED, "train", ("wikitext",)):
        out.update(word.lower() for word in piece.words)
    return frozenset(out)


def real_errors(rest: Container[int]) -> dict[str, list[str]]:
    """Misspellings that people made, by word in lower case. rest: of the words with which checksums; 0 is for reporting only."""
    found: dict[str, list[str]] = {}
    for line in (SHARED / "data" / "natural_errors" / "en.tsv").read_text(encoding="utf-8").splitlines():
        word, _, errors = line.partition("\t")
        low = word.lower()
        if zlib.crc32(low.encode()) % 5 in rest and re.fullmatch("[a-z]{3,}", low):
            some = {error.lower() for error in errors.split() if re.fullmatch("[A-Za-z]{2,}", error)} - {low}
            found.setdefault(low, []).extend(sorted(some))
    return found


def misspelt(
    pieces: list[noise.Piece], errors: dict[str, list[str]], most: int, dice: random.Random
) -> list[list[str]]:
    """The words of each text, at most so many of them as somebody misspelt them."""
    out = []
    for words, _, _ in pieces:
        new = list(words)
        spots = [
            at for at, word in enumerate(words) if errors.get(word.lower()) and word in (word.lower(), word.title())
        ]
        for at in dice.sample(spots, min(most, len(spots))):
            error = dice.choice(errors[words[at].lower()])
            new[at] = error if words[at].islower() else error.title()
        out.append(new)
    return out


def alone(pieces: list[noise.Piece], noisy: list[list[str]], dice: random.Random) -> list[list[str]]:
    """Noisy texts in which all words but one are right."""
    out = []
    for (words, _, _), new in zip(pieces, noisy, strict=True):
        spots = (
            [at for at, (a, b) in enumerate(zip(words, new, strict=False)) if a != b] if len(words) == len(new) else []
        )
        kept = dice.choice(spots) if spots else -1
        out.append([new[at] if at == kept else word for at, word in enumerate(words)])
    return out


def cases(many: int, fold: int, rest: Container[int]) -> list[Case]:
    """Clean and noisy texts of a part of each dev set."""
    dice = random.Random(11)
    out = []
    pieces: list[noise.Piece] = []
    more: list[noise.Piece] = []
    errors = real_errors(rest)
    for name in SETS:
        every = noise.pieces(SHARED, "dev", (name,))
        half = len(every) // 2
        some = [piece for piece in (every[:half], every[half:])[fold] if len(piece[0]) >= 4]
        dice.shuffle(some)
        out.append(Case(f"clean {name}", some[: 60 * many], [list(words) for words, _, _ in some[: 60 * many]]))
        out.append(Case(f"real 1 {name}", some[: 10 * many], misspelt(some[: 10 * many], errors, 1, dice)))
        if name in ("wikitext", "agnews"):  # names without capitals
            bare = [noise.Piece([word.lower() for word in words], between) for words, between, _ in some[: 10 * many]]
            out.append(Case(f"bare {name}", bare, [list(words) for words, _, _ in bare]))
            out.append(Case(f"real 1 bare {name}", bare, misspelt(bare, errors, 1, dice)))
        pieces += some[:many]
        more += some[: 4 * many]
    for most in (2, 4):
        out.append(Case(f"real {most}", more, misspelt(more, errors, most, dice)))
    texts = [" ".join(words) for words, _, _ in pieces]
    kinds: list[Any] = [
        noise.InnerShuffle(), noise.FullShuffle(), noise.Disemvowel(), noise.Truncate(), noise.Keyboard(), noise.Natural(),
        noise.Phonetic(), noise.Typo(), noise.Visual(), noise.Segment(),
    ]  # fmt: skip
    for each in kinds:
        for strength in (0.2, 0.5, 0.8):
            noisy = noise.scuffed(texts, [each], [strength], 6)
            out.append(Case(f"{each.name} {strength}", pieces, noisy))
        out.append(Case(f"{each.name} once", pieces, alone(pieces, noisy, dice)))
    for rate in (0.05, 0.2, 0.5):
        new = [[noise.own_noise(w, dice) if dice.random() < rate else w for w in words] for words, _, _ in pieces]
        for (words, _, _), mine in zip(pieces, new, strict=True):
            mine[:] = [w if noise.WHOLE.fullmatch(w) else old for w, old in zip(mine, words, strict=True)]
        out.append(Case(f"own {rate}", pieces, new))
        if rate == 0.5:
            out.append(Case("own once", pieces, alone(pieces, new, dice)))
    for turn in range(6):
        parts = dice.sample(kinds[:8], 2)
        name = "+".join(each.name for each in parts)
        out.append(Case(name, pieces, noise.scuffed(texts, parts, [0.3 + 0.1 * turn] * 2, 6)))
    return out


def fit(x: Any, y: Any, weight: Any) -> Any:
    """Logistic regression by Newton's method, slightly regularised."""
    w = np.zeros(x.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        slope = x.T @ (weight * (p - y)) + 1e-3 * w
        curve = (x * (weight * p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(w.size)
        w = w - np.linalg.solve(curve, slope)
    return w


def fitted(some: list[Case]) -> Any:
    rows, labels, weights = [], [], []
    for case in some:
        unit, word, evidence = case.propose()
        changed, hit = case.changed[unit], word == case.truth[unit]
        use = changed | case.right[unit]
        wrong = WRONG if case.changed.mean() < 0.1 else SPOILT
        rows.append(evidence[use])
        labels.append((changed & hit)[use])
        weights.append(np.where(changed & ~hit, wrong, 1.0)[use])
    x, y = np.concatenate(rows).astype(np.float64), np.concatenate(labels).astype(np.float64)
    print(f"{len(x)} proposals", flush=True)
    return fit(x, y, np.concatenate(weights))


def done(case: Case, w: Any) -> tuple[Any, Any]:
    """Which units are replaced, and which of them by the right word."""
    unit, word, evidence = case.propose()
    out, hit = np.zeros(len(case.units), np.bool_), np.zeros(len(case.units), np.bool_)
    chosen = evidence @ w > 0
    chosen &= ~context._foreign(case.pairs.page, unit[chosen])[case.units.spans.row[unit]] if chosen.any() else False
    out[unit[chosen]] = True
    hit[unit] = word == case.truth[unit]
    return out, hit


def kept(some: list[Case], w: Any) -> dict[str, float]:
    """The share of the surely right words of each clean set that stay."""
    lost: dict[str, list[int]] = {}
    for case in some:
        if case.name.startswith("clean"):
            gone, total = lost.setdefault(case.name, [0, 0])
            lost[case.name] = [gone + int((done(case, w)[0] & case.right).sum()), total + int(case.right.sum())]
    return {name: 1 - gone / total for name, (gone, total) in lost.items()}


def show(some: list[Case], w: Any) -> None:
    for case in some:
        out, hit = done(case, w)
        changed = case.changed
        if not changed.any():
            print(f"{case.name:30s} kept {(~out).mean():.5f}, of surely right words {(~out)[case.right].mean():.5f}")
            continue
        for name, which in (("", changed), (" (no words)", changed & case.pairs.page.unknown)):
            if not name or case.name.startswith("real"):
                print(
                    f"{case.name + name:30s} {which.sum():5d} changed: proposed right {hit[which].mean():.4f}, mended "
                    f"{(hit & out)[which].mean():.4f}, wrong {(~hit & out)[which].mean():.4f}; words right "
                    f"{np.where(changed, hit & out, ~out).mean():.4f}", flush=True,
                )  # fmt: skip


def main() -> None:
    ask = argparse.ArgumentParser()
    ask.add_argument("--texts", type=int, default=20)
    ask.add_argument(
        "--keep", type=float, default=0.9995, help="share of surely right words of each clean set that must stay"
    )
    args = ask.parse_args()
    context.LOOK_KNOWN, context.LOOK_UNKNOWN = -3.0, -9.0  # what is to be left must be seen, too
    mine, others = cases(args.texts, *FIT), cases(args.texts, *JUDGE)
    old = context.WEIGHTS.astype(np.float64)
    w = fitted(mine)
    shift = [0, 0]
    for _ in range(200):  # texts in which little else was changed need more, and those without capitals more still
        short = [name for name, share in kept(mine + others, w).items() if share < args.keep]
        if not short:
            break
        if short == ["clean sst2"]:
            shift[1] += 1
            w[BARE] -= 0.1
        else:
            shift[0] += 1
            w[0] -= 0.02
            w[FEW] -= 0.08
    print(f"shifts {shift}; kept", kept(mine + others, w))
    print("WEIGHTS =", np.round(w, 3).tolist())
    print("the constants of now, other texts and errors:")
    show(others, old)
    print("the new ones:")
    show(others, w)


if __name__ == "__main__":
    main()
