"""Find misspellings that people really made in plain text, with how often, and write src/scuff/resources/data/natural-errors.txt.

    python build/natural/listed.py --wordnet OEWN.jsonl.gz --cmudict cmudict.zip --comments COMMENTS.jsonl.gz ... EDITED.jsonl.gz ... [--judge]

A token that no dictionary knows is the error of a frequent word if the learnt channel (natural.xz) turns that word into it and no
other word is likely: P(error | word) * count(word), the noisy channel of spelling correction. Contractions without their apostrophe
are errors by themselves. Errors are what comments have more often than edited texts. Words that comments labelled as toxic have much
more often than others, and what looks like them, are left out, so that no slur is shipped. No list of errors is read: --judge compares the result with codespell's dictionary and prints the shares.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from estimate import codespell
from judge import uniform_edits
from rapidfuzz.distance import OSA

from scuff.perturbations.channel import NoisyChannel
from scuff.resources import load
from scuff.text.corpus import Corpus

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/natural-errors.txt"
TOKEN = re.compile(r"(?<![\w@#/.'’&-])[A-Za-z]+(?:['’][A-Za-z]+)*(?![\w@/])")
LEAST, SURE = (
    20,
    0.85,
)  # the count of a word that can have errors; the share of the best word among all that explain an error
RARER = 4  # an error is at least so many times as rare as its word
TAKEN = 40  # errors of a word, the most frequent
RUDE, RUDEST = (
    3.0,
    12.0,
)  # a word is left out if its rate in toxic comments is so many times that in others; and what looks like it
FLOOR = 1e-4  # the probability of an edit that the channel does not know
OTHER_WORDS = frozenset(
    [
        "thee",
        "thy",
        "und",
        "pls",
        "wik",
        "asf",
        "yoy",
        "soc",
        "doco",
        "doc",
        "pubic",
        "ask",
        "meh",
        "yep",
        "nope",
        "hmm",
        "gov",
        "thx",
        "cou",
        "mou",
        "hav",
        "supa",
        "widd",
        "nocal",
    ]
)  # foreign, old, short
ACCIDENTS = frozenset(("forget", "fun", "fund", "jewish", "may", "yards"))  # words whose errors are rude by accident
# words that people take for each other, written by hand: half of the errors of each
CONFUSED = {
    "their": "there", "there": "their", "they're": "their", "its": "it's", "it's": "its", "your": "you're", "you're": "your",
    "then": "than", "than": "then", "to": "too", "too": "to", "lose": "loose", "loose": "lose", "affect": "effect",
    "whose": "who's", "who's": "whose", "were": "where", "where": "were", "whether": "weather", "quite": "quiet", "of": "off",
    "principle": "principal", "accept": "except", "advice": "advise", "passed": "past", "led": "lead", "breathe": "breath",
    "paid": "payed", "know": "no", "knew": "new", "hear": "here", "course": "coarse", "bear": "bare", "brake": "break",
    "piece": "peace", "peace": "piece", "week": "weak", "weak": "week", "threw": "through", "waist": "waste", "site": "sight",
}  # fmt: skip
KIND = ([], None, "neither", 0)  # labels of comments that are not toxic
CONTRACTED = re.compile(r"[a-z]+n't|[a-z]+'(?:s|re|ve|ll|d|m)")
SLANG = re.compile(r"(.)\1\1|(?:in|az|ah|uh|z|xx)$")  # gettin, yeahhh, boyz: on purpose
ENDING = re.compile(r"(?:ed|d|al|er|r|ing|ly|y|s|es|ish|ism|ist|ic|a|o|i)?")  # an ending more is another word


def counts(paths: list[str], toxic: bool | None = None) -> tuple[Counter[str], Counter[str]]:
    """How often each token is written in lower case, and with capitals. toxic: only in comments that are, or are not."""
    small: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for record in map(json.loads, file):
                if toxic is not None and toxic is (record.get("labels", record.get("label")) in KIND):
                    continue
                for value in (
                    value for key, value in record.items() if isinstance(value, str) and key not in ("label", "id")
                ):
                    for token in TOKEN.findall(value):
                        (small if token.islower() else capital)[token.lower().replace("’", "'")] += 1
    return small, capital


def dictionary(wordnet: str, cmudict: str, seen: Counter[str]) -> tuple[set[str], set[str]]:
    """English words with their forms; and names. A rare second form (occured) is none, a usual one (traveled) is."""
    from lemminflect import getAllInflections

    words: set[str] = set(load("stopwords.txt").decode().split())
    with gzip.open(wordnet, "rt", encoding="utf-8") as file:
        words.update(word for word in (json.loads(line)["lemma"] for line in file) if re.fullmatch("[a-z]+", word))
    for lemma in list(words):
        for forms in getAllInflections(lemma).values():
            words.update(form for form in forms if form == forms[0] or seen[form] * RARER >= seen[forms[0]])
    with zipfile.ZipFile(cmudict) as archive:
        name = next(name for name in archive.namelist() if name.endswith("cmudict"))
        names = {
            line.split()[0].lower() for line in archive.read(name).decode("latin-1").splitlines() if line[:1].isalpha()
        }
    return words, names


def above(one: Counter[str], other: Counter[str], times: float) -> set[str]:
    """Words whose rate in one kind of texts is more than so many times that in the other, where one unseen word counts as half."""
    share = sum(other.values()) / sum(one.values())
    return {word for word, count in one.items() if count * share > times * (other[word] + 0.5)}


def outputs(channel: NoisyChannel, words: list[str]) -> Iterator[tuple[str, str, float]]:
    """(word, error, probability) of all errors by one rule."""
    weight, texts = np.diff(channel.weight).tolist(), channel.texts.strings()
    first, number, taken = channel.first.tolist(), channel.number.tolist(), channel.taken.tolist()
    for word in words:
        contexts = channel.contexts(Corpus.of([word]).letters).tolist()
        total = sum(weight[rule] for context in contexts for rule in range(first[context], first[context + 1]))
        for at, context in enumerate(contexts):
            for rule in range(first[context], first[context + 1]):
                yield word, word[:at] + texts[number[rule]] + word[at + taken[rule] :], weight[rule] / max(1, total)


def is_error(word: str, error: str, count: int) -> bool:
    """Whether an error is no other form of the word, and, if it was met only once, one edit away."""
    other_form = error.startswith(word) and ENDING.fullmatch(error[len(word) :])
    return not other_form and (count > 1 or OSA.distance(word, error) == 1)


def explained(
    seen: Counter[str], capital: Counter[str], careless: set[str], words: set[str], names: set[str], rude: set[str]
) -> dict[str, Counter[str]]:
    """The errors of each word with their counts."""
    known = words | {name for name in names if capital[name] >= seen[name]}
    known |= {token for token in names if token.endswith("ly") and token[:-2] in words} | OTHER_WORDS
    errors = {token for token in careless - known if token.isalpha() and len(token) > 2 and not SLANG.search(token)}
    frequent = sorted(word for word in words | rude if seen[word] >= LEAST and len(word) > 2)
    by_error: dict[str, Counter[str]] = {}
    channel = outputs(NoisyChannel.read(load("natural.xz")), frequent)
    others = ((word, error, FLOOR) for word in frequent for error in sorted(errors.intersection(uniform_edits(word))))
    for word, error, chance in chain(channel, others):
        if error in errors and seen[error] * RARER <= seen[word]:
            by_error.setdefault(error, Counter())[word] += chance * seen[word]  # type: ignore[assignment]
    found: dict[str, Counter[str]] = {}
    for error, near in by_error.items():
        word, score = near.most_common(1)[0]
        if word not in rude and score >= SURE * sum(near.values()) and is_error(word, error, seen[error]):
            found.setdefault(word, Counter())[error] = seen[error]
    for word in [token for token in seen if CONTRACTED.fullmatch(token) and seen[token] >= LEAST]:
        bare = word.replace("'", "")
        if bare in careless - words:
            found.setdefault(word, Counter())[bare] = seen[bare]
    return found


def without_rude(errors: Counter[str], rudest: set[str]) -> Counter[str]:
    """The errors without those that hold a rude word or are one edit away from one."""
    close = {
        error for error in errors
        if errors[error] < 5 and any(word in error or OSA.distance(word, error) < 2 for word in rudest)
    }  # fmt: skip
    return Counter({error: count for error, count in errors.items() if error not in close})


def judge(found: dict[str, Counter[str]]) -> None:
    """Prints how often codespell's dictionary names the same word for an error that it knows."""
    theirs = {error: word for word, errors in codespell().items() for error in errors}
    pairs = [(word, error) for word, errors in found.items() for error in errors if word.isalpha()]
    both = [(word, error) for word, error in pairs if error in theirs]
    wrong = [(word, error, theirs[error]) for word, error in both if theirs[error] != word]
    print(
        f"{len(pairs)} errors, {len(both)} in codespell's dictionary, {1 - len(wrong) / len(both):.1%} of these the same word"
    )
    print(wrong[:40])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+")
    parser.add_argument("--wordnet", required=True)
    parser.add_argument("--cmudict", required=True)
    parser.add_argument("--comments", required=True, action="append", help="with labels")
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--out", type=Path, default=TARGET)
    args = parser.parse_args()
    toxic, kind, edited = counts(args.comments, True), counts(args.comments, False), counts(args.texts)
    seen, capital = (toxic[at] + kind[at] + edited[at] for at in (0, 1))
    careless = above(toxic[0] + kind[0], edited[0], 1)
    rude, rudest = (above(toxic[0] + toxic[1], kind[0] + kind[1], times) for times in (RUDE, RUDEST))
    found = explained(seen, capital, careless, *dictionary(args.wordnet, args.cmudict, seen), rude)
    rudest = {word for word in rudest if word.isalpha() and len(word) > 3 and toxic[0][word] + toxic[1][word] >= LEAST}
    found = {
        word: kept for word, errors in found.items() if word not in ACCIDENTS and (kept := without_rude(errors, rudest))
    }
    if args.judge:
        judge(found)
    for word, other in CONFUSED.items():
        errors = found.setdefault(word, Counter())
        errors[other] = max(1, sum(errors.values()))
    lines = []
    for word, errors in sorted(found.items()):
        ranked = sorted(errors.items(), key=lambda pair: (-pair[1], pair[0]))[:TAKEN]
        lines.append(f"{word}\t{' '.join(f'{error}:{count}' for error, count in ranked)}")
    args.out.write_text("\n".join(lines), encoding="utf-8", newline="")
    print(f"{len(found)} words, {sum(map(len, found.values()))} errors, {args.out.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
