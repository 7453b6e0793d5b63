"""Builds src/scuff/resources/data/lexicon.bin: English words with costs, pairs of words, and other forms that are right.

    python build/shields/lexicon.py SYMSPELLPY_FOLDER DATA_FOLDER

SYMSPELLPY_FOLDER holds the word and pair counts of symspellpy (MIT). DATA_FOLDER holds our data sets, of which the train parts are
counted; no text of them is kept. Dictionaries: WordNet (the table that Scuff ships) with regular and irregular forms, and the words
of gruut-lang-en (MIT), which are those of phonetic.txt.xz. A form that no dictionary knows must not be a misspelling: it is dropped
if it is a listed error, or one edit away from a word that is far more frequent.
"""

from __future__ import annotations

import gzip
import json
import lzma
import math
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np

from scuff.english.wordnet import table
from scuff.resources import load

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/lexicon.bin"
SETS = {
    "wikitext": 1.0,
    "agnews": 1.0,
    "jigsaw": 1.0,
    "sst2": 1.0,
    "snli": 0.5,
    "mnli": 1.0,
}  # and how much their counts weigh
EDITED = ("wikitext", "agnews")  # texts in which a name that comes once is spelt right
TOKEN = re.compile(r"(?<![\w@#/&])[^\W\d_]+(?:['’-][^\W\d_]+)*(?![\w@/])")
STEP = 8  # costs are stored in eighths of a bit
PAIRS = 480_000
MOST = 4  # times that a word counts in one text
WRONG = {"alot", "occured", "occurence", "publically"}  # known by a dictionary, and errors all the same
BOOKS = 0.4  # the share of symspellpy's counts, which are of books and the web, in the probability of a word
DISCOUNT = 0.6  # of the counts of pairs
LOUD, NAMELIKE = (
    8,
    300,
)  # a form that no dictionary knows is an error of a word so many times as frequent (mostly capitals: a name)
RARE = 1000  # the same for a form that only the pronunciation lexicon knows
# what people write on purpose
SLANG = (
    "lol lols rofl lmao lmfao omg omfg wtf wth idk idc btw imo imho tbh tbf fyi afaik iirc ftw fwiw smh brb gtg irl jk nvm ofc tho thru thx thanx tks ty tysm "
    "yw pls plz plzz u ur r y k kk b4 n ya yea yeah yeh yep yup yay nah nope naw hmm hmmm hm uh uhh um umm ugh ugly meh duh doh huh hah haha hahaha heh hehe ahh "
    "aww awww oh ooh ohh oops wow whoa yo hey hi hiya bye gonna wanna gotta kinda sorta lemme gimme gotcha dunno cuz coz cos bc bcuz 'cause y'all yall ain't aint "
    "ima imma finna tryna outta lotta lotsa dat dis dem da tha wat wut wot whatcha gon em til 'til till bro bruh dude sis fam bae bff nite lite luv xoxo xx "
    "ok okay okie kay alright alrite srsly prolly def obv obvs deets convo totes fave faves info ad ads app apps blog blogs vlog selfie meme memes wiki wikis "
    "admin admins mod mods spam troll trolls noob newbie newb pov npov asap rip ps pps nsfw diy faq faqs ip url html pdf tv tvs pc cd dvd dvds usa uk eu un nyc la "
    "mr mrs ms dr prof jr sr st vs etc e.g i.e eg ie inc ltd corp co dept est approx govt min max avg num ave blvd rd jan feb mar apr jun jul aug sep sept oct nov dec "
    "mon tue tues wed thu thur thurs fri sat sun am pm nd rd th ca wo lrb rrb lsb rsb "
    "pre non anti pro ex sub super neo ultra quasi mid bi tri un re co multi semi post inter intra counter cross mini micro macro pseudo"
)
CONTRACTION = re.compile(
    r"[a-z]+(?:n't|'re|'ve|'ll|'d|'m)|(?:it|he|she|that|what|who|there|here|where|how|let|one)'s|o'clock|ma'am|n't"
)
BARE = re.compile(
    r"(?:do|did|does|is|was|were|are|have|had|has|could|would|should|must|need|ca|wo|might)nt|(?:i|you|we|they)ve|im|youre|theyre|hes|shes|thats|whats|isnt|youll|theyll|weve|ive"
)


def texts(folder: Path, name: str) -> Iterator[str]:
    with gzip.open(folder / name / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            yield from (row[key] for key in ("text", "premise", "hypothesis") if key in row)


def count(folder: Path) -> tuple[Counter[str], Counter[str], Counter[str], Counter[str], Counter[tuple[str, str]]]:
    """Weighted counts of words in lower case; how often each is capitalised inside a sentence; the same in edited texts; how often
    each is written small where others are not; pairs.
    """
    total: Counter[str] = Counter()
    names: Counter[str] = Counter()
    edited: Counter[str] = Counter()
    small: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for name, weight in SETS.items():
        seen: set[str] = set()
        for text in texts(folder, name):
            if text in seen:  # premises come several times
                continue
            seen.add(text)
            before, end, here = "", 0, Counter[str]()
            for found in TOKEN.finditer(text):
                token = found.group().replace("’", "'")
                low = token.lower()
                here[low] += 1
                often = here[low] <= MOST  # one text of one word a thousand times says nothing of English
                total[low] += weight * often
                gap = text[end : found.start()]
                if token[0].isupper() and not token[1:].isupper() and before and not re.search(r'[.!?:;"\n]', gap):
                    names[low] += 1
                    edited[low] += name in EDITED
                small[low] += token == low and name != "sst2"  # all of which is small
                if often and before and gap in (" ", " , ", ", "):
                    pairs[before, low] += weight
                before, end = low, found.end()
    return total, names, edited, small, pairs


def wordnet_forms() -> set[str]:
    """Single words of WordNet and their forms, regular and irregular, by part of speech."""
    net = table()
    part = net.part[net.synset]
    tagged = {(net.words[word].lower(), int(p)) for word, p in zip(net.word.tolist(), part.tolist(), strict=True)}
    forms = {word for word, _ in tagged} | {word for phrase in net.phrases for word in phrase.lower().split()}
    for word, p in tagged:
        if len(word) < 3:
            continue
        short = re.sub(r"(?<=[^aeiou])y$", "i", word)
        plural = short + "es" if short != word or re.search(r"(?:s|x|z|ch|sh)$", word) else word + "s"
        silent = word[:-1] if word.endswith("e") else word
        double = word + word[-1] if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", word) else word
        if p in (0, 1):
            forms.add(plural)
        if p == 1:
            forms |= {silent + "ing", double + "ing", re.sub("e$", "", short) + "ed", double + "ed"}
        if p in (2, 4) and len(word) < 8:
            forms |= {re.sub("e$", "", short) + end for end in ("er", "est")} | {double + "er", double + "est"}
    forms |= {line.split(" ")[1] for line in load("irregular.txt").decode().splitlines()}
    return {form for form in forms if re.fullmatch(r"[a-z]+(?:['-][a-z]+)*", form)}


def deletions(word: str) -> set[str]:
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def near(one: str, other: str) -> bool:
    """Whether one letter more, less, another, or a swap of two neighbours makes one word the other."""
    if len(one) < len(other):
        one, other = other, one
    if len(one) - len(other) > 1 or one == other:
        return False
    at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(other))
    if len(one) > len(other):
        return one[at + 1 :] == other[at:]
    return one[at + 1 :] == other[at + 1 :] or (
        one[at : at + 2] == other[at : at + 2][::-1] and one[at + 2 :] == other[at + 2 :]
    )


class Errors:
    """Whether a form is a likely error of a far more frequent word."""

    def __init__(self, weight: dict[str, float]) -> None:
        self.weight = weight
        self.table: dict[str, list[str]] = defaultdict(list)
        for word in sorted(weight, key=lambda word: -weight[word])[:40_000]:
            if len(word) > 2:
                for key in deletions(word):
                    self.table[key].append(word)

    def __call__(self, form: str, times: float) -> bool:
        mine = self.weight.get(form, 0.0)
        return any(
            self.weight[word] > times * mine and near(word, form)
            for key in deletions(form)
            for word in self.table.get(key, ())
        )


def listed_errors() -> set[str]:
    rows = (line.split("\t") for line in load("natural-errors.txt").decode().split("\n"))
    return {pair.split(":")[0].lower() for _, errors in rows for pair in errors.split(" ")}


def choose_words(
    books: dict[str, float], total: Counter[str], names: Counter[str], edited: Counter[str]
) -> tuple[dict[str, float], set[str]]:
    """Words with probabilities, and other forms that are right."""
    everything = sum(total.values())
    dictionary = wordnet_forms()
    pronounced = {line.split("\t")[0] for line in lzma.decompress(load("phonetic.txt.xz")).decode().split("\n")}
    slang, listed = set(SLANG.split()), listed_errors() | WRONG
    plain = re.compile(r"[a-z]+(?:['-][a-z]+)*")
    mixed = {word: (1 - BOOKS) * n / everything + BOOKS * books.get(word, 0.0) for word, n in total.items()}
    mixed |= {word: BOOKS * p for word, p in books.items() if word not in mixed}
    error = Errors(mixed)
    words: dict[str, float] = {}
    others: set[str] = set()
    for word, p in mixed.items():
        if not plain.fullmatch(word) or len(word) > 30:
            if word.isalpha() and (names[word] > 1 or edited[word]):
                others.add(word)  # Zürich
            continue
        if word in WRONG:
            continue
        if word in slang or word in books or word in dictionary:
            words[word] = p
            continue
        if CONTRACTION.fullmatch(word) and total[word] >= 3:  # before the listed errors, of which you're (your) is one
            words[word] = p
            continue
        if BARE.fullmatch(word) or word in listed:
            continue
        often = total[word]
        stem = re.sub(r"'s?$", "", word)
        if stem != word and stem in mixed:
            (words if often >= 5 else others).update({word: p} if often >= 5 else {word})  # type: ignore[arg-type]
            continue
        parts = word.split("-")
        if len(parts) > 1 and all(part in books or part in dictionary or len(part) == 1 for part in parts):
            if often >= 8:
                words[word] = p
            continue  # `known` looks at the parts
        if "'" in word and not re.search(r"'(?:s|t|re|ve|ll|d|m)$|^(?:o|d)'", word):
            continue
        name = names[word] >= 0.5 * often or edited[word] > 1
        if word in pronounced:
            if not error(word, RARE) or names[word] > 2:
                (words if often >= 2 else others).update({word: p} if often >= 2 else {word})  # type: ignore[arg-type]
        elif name:
            if names[word] >= 3 and not error(word, NAMELIKE):
                words[word] = p
            elif (names[word] >= 2 or edited[word]) and not error(word, NAMELIKE):
                others.add(word)
        elif often >= 6 and not error(word, LOUD):
            (words if often >= 20 else others).update({word: p} if often >= 20 else {word})  # type: ignore[arg-type]
    others |= {form for form in dictionary if form not in words and len(form) > 2 and not error(form, 100 * RARE)}
    others |= {
        form
        for form in pronounced
        if plain.fullmatch(form) and len(form) > 2 and form not in words and not error(form, RARE / 5)
    }
    others |= {word for word in slang if plain.fullmatch(word)}
    others -= set(words) | (listed - slang)
    return words, others


def conditional(
    number: dict[str, int],
    p: np.ndarray,
    books: dict[str, float],
    lines: Iterable[str],
    scale: float,
    total: Counter[str],
    pairs: Counter[tuple[str, str]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs as keys left * n + right in order, the cost of each right given its left, and the cost of backing off from each left."""
    n = len(number)
    joint: dict[int, float] = {}
    left_total = np.zeros(n)
    for word, c in total.items():
        if word in number:
            left_total[number[word]] = c
    book_total = np.zeros(n)
    for word, q in books.items():
        if word in number:
            book_total[number[word]] = q
    trust = left_total / (left_total + 200)  # of our own counts, against those of books
    for line in lines:
        left, right, c = line.split(" ")
        if left in number and right in number and book_total[number[left]] > 0:
            a, b = number[left], number[right]
            share = min(0.9, int(c) * scale / book_total[a])
            joint[a * n + b] = (1 - 0.7 * trust[a]) * share * (0.85 if trust[a] < 0.01 else 1.0)
    for (left, right), c in pairs.items():
        if left in number and right in number and c > DISCOUNT:
            a, b = number[left], number[right]
            share = (c - DISCOUNT) / max(left_total[a], c)
            joint[a * n + b] = joint.get(a * n + b, 0.0) + (0.7 * trust[a] if book_total[a] > 0 else trust[a]) * share
    key = np.fromiter(joint.keys(), np.int64, len(joint))
    value = np.fromiter(joint.values(), np.float64, len(joint))
    left, right = key // n, key % n
    mass = np.bincount(left, value, n)
    shrink = np.minimum(1.0, 0.9 / np.maximum(mass, 1e-9))
    value *= shrink[left]
    gain = p[left] * value * np.log2(np.maximum(value / p[right], 1e-9))  # bits that knowing the pair saves
    best = np.argsort(-gain)[:PAIRS]
    best = np.sort(best[gain[best] > 0])
    key, value, left, right = key[best], value[best], left[best], right[best]
    rest = 1 - np.bincount(left, value, n)
    cost = -np.log2(value + rest[left] * p[right])
    order = np.argsort(key)
    return key[order], cost[order], -np.log2(rest)


def planes(values: np.ndarray, width: int) -> bytes:
    """Whole numbers as planes of bytes, lowest first: similar bytes stand together."""
    return values.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width].T.tobytes()


def steps(cost: np.ndarray) -> np.ndarray:
    return np.clip(np.round(cost * STEP), 0, 255).astype(np.uint8)


def main() -> None:
    symspell, folder = Path(sys.argv[1]), Path(sys.argv[2])
    lines = (symspell / "frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig").splitlines()
    counted = {word: int(c) for word, c in (line.split(" ") for line in lines)}
    scale = 1 / sum(counted.values())
    books = {word: c * scale for word, c in counted.items() if c != 300_000}  # 300,000: added by hand, not counted
    total, names, edited, small, pairs = count(folder)
    words, others = choose_words(books, total, names, edited)
    mass = sum(words.values())
    listing = sorted(words)
    coarse = steps(np.array([-math.log2(words[word] / mass) for word in listing]))
    order = np.argsort(coarse, kind="stable")  # as the reader numbers them: by cost, then by the alphabet
    number = {listing[at]: rank for rank, at in enumerate(order)}
    p = 2.0 ** (-coarse[order].astype(np.float64) / STEP)
    bigrams = (symspell / "frequency_bigramdictionary_en_243_342.txt").read_text(encoding="utf-8-sig").splitlines()
    key, cost, back = conditional(number, p, books, bigrams, scale, total, pairs)
    left, right = np.divmod(key, len(listing))
    right_step = np.where(np.diff(left, prepend=-1) != 0, right, np.diff(right, prepend=0))
    parts = (
        "".join(f"{word}\n" for word in listing).encode(),
        "".join(f"{word}\n" for word in sorted(others)).encode(),
        coarse.tobytes(),
        steps(back).tobytes(),
        planes(np.bincount(left, minlength=len(listing)), 2),
        planes(right_step, 3),
        steps(cost).tobytes(),
        bytes(round(255 * (names[word] + 0.3) / (names[word] + small[word] + 2)) for word in listing),
    )
    head = {
        "words": len(listing),
        "others": len(others),
        "pairs": int(key.size),
        "step": STEP,
        "sizes": [len(part) for part in parts],
    }
    raw = json.dumps(head).encode() + b"\n" + b"".join(parts)
    data = zlib.compress(raw, 9)  # read three times as fast as xz, an eighth larger
    TARGET.write_bytes(data)
    print(head, len(data), sha256(data).hexdigest())


if __name__ == "__main__":
    main()
