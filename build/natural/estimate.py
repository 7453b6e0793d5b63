"""Learn how people misspell from lists of real errors, and write src/scuff/resources/data/natural.xz: statistics, not the lists.

    python build/natural/estimate.py ERRORS.tsv [--codespell] [--held 0.1]

ERRORS has lines word<TAB>error error ...; --codespell adds the dictionary of the codespell package. Errors of one or two edits count
(insert, delete, replace, swap neighbours); a word with n errors counts each with weight n^-1/2, so that no word rules.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from pathlib import Path

from rapidfuzz.distance import OSA

sys.path.append(str(Path(__file__).parents[1]))
from channel import Context, Rule, contexts, pack, rates

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/natural.xz"


def listed(path: str) -> dict[str, list[str]]:
    lines = (line.split("\t") for line in Path(path).read_text(encoding="utf-8").splitlines())
    return clean({word: errors.split() for word, errors in lines})


def codespell() -> dict[str, list[str]]:
    from importlib.metadata import distribution

    path = Path(str(distribution("codespell").locate_file("codespell_lib/data/dictionary.txt")))
    found: dict[str, list[str]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        error, _, words = line.partition("->")
        parts = [part.strip() for part in words.split(",")]
        if len(parts) == 1:  # one correction only: the others are guesses
            found.setdefault(parts[0], []).append(error)
    return clean(found)


def clean(found: dict[str, list[str]]) -> dict[str, list[str]]:
    """Lower case, letters only, errors of at most two edits that leave half of the word."""
    out: dict[str, list[str]] = {}
    for word, errors in found.items():
        word = word.lower()
        if re.fullmatch(r"[a-z]{2,20}", word):
            good = {e.lower() for e in errors if re.fullmatch(r"[a-z]+", e.lower()) and e.lower() != word}
            out.setdefault(word, []).extend(e for e in sorted(good) if OSA.distance(word, e) <= min(2, len(word) // 2))
    return {word: sorted(set(errors)) for word, errors in out.items() if errors}


def rules(word: str, error: str) -> list[tuple[int, Rule]] | None:
    """The places and rules that turn a word into its error; insertions go with the letter before them."""
    begin = next((i for i, (a, b) in enumerate(zip(word, error, strict=False)) if a != b), min(len(word), len(error)))
    end = next(
        (i for i, (a, b) in enumerate(zip(word[begin:][::-1], error[begin:][::-1], strict=False)) if a != b), None
    )
    end = min(len(word), len(error)) - begin if end is None else end
    old, new = word[begin : len(word) - end], error[begin : len(error) - end]
    if len(old) <= 2 and len(new) <= 2:  # one rule does it
        if not old:
            if begin:
                return [(begin - 1, (1, word[begin - 1] + new))]
            return [(0, (1, new + word[0]))]
        return [(begin, (len(old), new))]
    # two edits apart: each on its own
    for cut in range(1, len(word)):
        for shift in (-1, 0, 1):
            left, right = error[: cut + shift], error[cut + shift :]
            if (
                0 < cut + shift < len(error)
                and OSA.distance(word[:cut], left) == 1
                and OSA.distance(word[cut:], right) == 1
            ):
                one, other = rules(word[:cut], left), rules(word[cut:], right)
                return [*one, *((cut + at, rule) for at, rule in other)] if one and other else None
    return None


def count(found: dict[str, list[str]]) -> tuple[Counter[tuple[Context, Rule]], Counter[Context], dict[int, float]]:
    seen: Counter[tuple[Context, Rule]] = Counter()
    met: Counter[Context] = Counter()
    two: dict[int, list[float]] = {}
    for word, errors in found.items():
        weight, around = len(errors) ** -0.5, contexts(word)
        for error in errors:
            done = rules(word, error)
            if not done:
                continue
            for at, rule in done:
                seen[around[at], rule] += weight  # type: ignore[assignment]
            for context in around:
                met[context] += weight  # type: ignore[assignment]
            share = two.setdefault(min(len(word), 15), [0.0, 0.0])
            share[len(done) > 1] += weight
    return seen, met, {length: b / (a + b) for length, (a, b) in sorted(two.items())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("errors")
    parser.add_argument("--codespell", action="store_true")
    parser.add_argument("--held", type=float, default=0.0, help="leave out this share of the words, for judging")
    parser.add_argument("--out", type=Path, default=TARGET)
    args = parser.parse_args()
    found = listed(args.errors)
    if args.codespell:
        for word, errors in codespell().items():
            found[word] = sorted({*found.get(word, []), *errors})
    if args.held:
        words = sorted(found)
        random.Random(7).shuffle(words)
        found = {word: found[word] for word in words[int(len(words) * args.held) :]}
    seen, met, two = count(found)
    shares = [round(two.get(length, two[max(two)] if length > max(two) else 0.0), 3) for length in range(16)]
    print(f"{len(found)} words, {sum(map(len, found.values()))} errors; two apart: {shares}")
    pack(rates(seen, met), args.out, two_edits=shares)


if __name__ == "__main__":
    main()
