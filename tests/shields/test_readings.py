"""How Normalise reads words: fast ways beside slow ones that are plain to see."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.shields import Corpus, parse
from scuff.shields.lexicon import lexicon
from scuff.shields.normalise import decoding
from scuff.shields.normalise.decoding import CLITICS, CLOSE, COMMON, READINGS, UNKNOWN, decode
from scuff.shields.normalise.look_alikes import LATIN, LETTER, MARK, ORDINARY, SIGN, look_alikes
from scuff.shields.normalise.non_ascii import find_odd
from scuff.shields.normalise.traits import ACCENTS, DIGIT, ONLY, STRONG
from scuff.text.ragged import Ragged

Option = tuple[str, int]  # what a character may say ("": nothing), and the cost of that


def choices_of(char: str) -> list[Option]:
    """All plain characters that one looks like."""
    table = look_alikes()
    row = int(table.number[ord(char)])
    return [(chr(near), int(cost)) for near, cost in zip(table.near[row], table.cost[row], strict=True) if near]


def options(word: str) -> list[list[Option]]:
    """What each character of a word may say, the likeliest first; those that are not tried are left out."""
    kinds = look_alikes().kind
    stays = [ord(char) < 128 or kinds[ord(char)] == SIGN or not choices_of(char) for char in word]
    firsts = [None if stay else choices_of(char)[0] for char, stay in zip(word, stays, strict=True)]
    sure = [first is not None and first[0].isdigit() and first[1] <= 10 for first in firsts]
    numbers = any(sure) or any(char in "0123456789" for char in word)
    out: list[list[Option]] = []
    for char, stay, known in zip(word, stays, sure, strict=True):
        mine = [] if ord(char) < 128 else choices_of(char)
        first_digit = next((at for at, (plain, _) in enumerate(mine) if plain.isdigit()), 0)
        if numbers and not known and first_digit and not (stay and ord(char) < 128):
            mine[0], mine[first_digit] = (mine[first_digit][0], 0), (mine[0][0], mine[first_digit][1])
            mine[1:] = [(plain, max(cost, 30)) for plain, cost in mine[1:]]
            if stay:
                mine = mine[:1]
        elif stay:
            mine = [(char, 0)]
        if kinds[ord(char)] == MARK:
            mine = [("", mine[0][1] if mine and not stay else 0)]
        least = mine[0][1] + (CLOSE if len(word) > 1 else 0)
        out.append(mine[: sum(cost <= least for _, cost in mine)])
    return limited(out)


def limited(out: list[list[Option]]) -> list[list[Option]]:
    """Fewer options, until there are not too many readings."""
    for most in (3, 2):
        if np.prod([float(len(each)) for each in out]) > READINGS:
            out = [each[:most] for each in out]
    if np.prod([float(len(each)) for each in out]) > READINGS:
        open_ = sorted((each[1][1] - each[0][1], at) for at, each in enumerate(out) if len(each) > 1)
        for _, at in open_[int(np.log2(READINGS)) :]:
            out[at] = out[at][:1]
    return out


def number(word: str) -> int:
    return int(lexicon().number(Ragged.of([word]))[0])


def bits(word: str) -> float:
    """What a reading costs as a word."""
    found = number(word)
    if len(word) > 1 and all(char in "0123456789" for char in word):
        return decoding.A_NUMBER
    if found >= 0:
        return UNKNOWN - 2 if len(word) < 4 and found > decoding.SHORT else float(lexicon().cost[found])
    stem, _, end = word.replace("’", "'").rpartition("'")
    if "'" in word.replace("’", "'"):
        known = number(stem)
        more = 2 if end.lower() in CLITICS else decoding.UNUSUAL
        return UNKNOWN if known < 0 else float(lexicon().cost[known] + np.float32(more))
    if word[-2:] in ("st", "nd", "rd", "th") and word[:-2].isdecimal() and word[:-2].isascii():
        return decoding.A_NUMBER
    return UNKNOWN


def mixture(said: tuple[str, ...]) -> float:
    """What its mixture of cases, digits and signs costs; a character that is gone keeps its neighbours apart."""

    def lower(char: str) -> bool:
        return char.isascii() and char.islower()

    def upper(char: str) -> bool:
        return char.isascii() and char.isupper()

    def digit(char: str) -> bool:
        return char in tuple("0123456789")

    price = sum(5.0 for c in said if c and ord(c) < 128 and c != "'" and not c.isalnum())
    for a, b in pairwise(said):
        price += 10 * (lower(a) and upper(b)) + 3 * (a == "'" and upper(b)) + 5 * (digit(a) != digit(b))
    for a, b, c in zip(said, said[1:], said[2:], strict=False):
        price += 6 * (upper(a) and upper(b) and lower(c)) + 6 * (lower(a) and b == "'" and upper(c))
    return price + 8 * (said == ("l",))


def slow_decode(word: str) -> str:
    """Tries all readings of a word one by one."""
    every = options(word)
    first = "".join(each[0][0] for each in every)
    tied = any(len(each) > 1 and each[0][1] == each[1][1] for each in unlimited(word))
    if all(len(each) == 1 for each in every) or (0 <= number(first) <= COMMON and not tied):
        return first
    found = []
    for reversed_ in product(*reversed(every)):  # the first character changes fastest
        reading = reversed_[::-1]
        said = tuple(plain for plain, _ in reading)
        shape = sum(cost for _, cost in reading)
        found.append((shape / (10 * decoding.SHAPE) * 4 + bits("".join(said)) + mixture(said), said))
    return "".join(min(found, key=lambda each: each[0])[1])


def unlimited(word: str) -> list[list[Option]]:
    """The options of a word before there are too many readings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.READINGS", 1 << 60)
        return options(word)


def look_alike_words() -> st.SearchStrategy[str]:
    """Words some of whose letters are others that look like them, with apostrophes, digits, marks and case."""
    table = look_alikes()
    some = [
        "hello",
        "will",
        "I'll",
        "2015",
        "5th",
        "1st",
        "they'd",
        "Coca",
        "book",
        "l",
        "I",
        "O0",
        "ii",
        "all",
        "SOS",
        "3rd",
        "don’t",
        "Ill2",
        "o'er",
        "being",
    ]
    like: dict[str, list[str]] = {}
    for code in np.flatnonzero((table.number > 0) & np.isin(table.kind, (LETTER, ORDINARY, SIGN, 13, 14))).tolist():
        for plain, _ in choices_of(chr(code))[:3]:
            like.setdefault(plain, []).append(chr(code))
    every = "".join(sorted({char for chars in like.values() for char in chars}))

    def disguised(word: str) -> st.SearchStrategy[str]:
        chars = [st.sampled_from([char, *like.get(char, [char])]) for char in word]
        return st.tuples(*chars).map("".join)

    any_ = st.text(st.sampled_from(every + "aeIl10O\u0301\u0337'’"), min_size=1, max_size=9)
    return st.one_of(st.sampled_from(some).flatmap(disguised), any_)


@given(st.lists(look_alike_words(), min_size=1, max_size=8))
def test_words_say_what_the_cheapest_of_all_readings_says(words: list[str]) -> None:
    texts = Ragged.of(words)
    codes, numbers = decode(texts)
    said = ["".join(word.split("\0")) for word in Ragged(codes, texts.offsets).strings()]
    assert said == [slow_decode(word) for word in words]
    assert numbers.tolist() == [number(word) for word in said]


@given(st.text(st.sampled_from("abеоéñ\u0301ßжяλμ5’'ｈ𝓱ⓗ日ا "), max_size=20), st.integers(0, 2))
def test_all_counts_of_a_word_are_right(text: str, long: int) -> None:
    text += " " + "éа" * (200 * long)  # words of more letters than a byte counts
    table, texts = look_alikes(), Ragged.of([text])
    odd = find_odd(texts, table.kind[texts.codes])
    if not len(odd.text):
        return
    counts = odd.counts
    for at, word in enumerate(odd.text.strings()):
        kinds = [int(table.kind[ord(char)]) for char in word]
        accents = [
            (ord(char) > 127 and table.script[ord(char)] == LATIN and kind in (ORDINARY, LETTER)) or kind == MARK
            for char, kind in zip(word, kinds, strict=True)
        ]
        assert counts.plain[at] == sum(char.isascii() and char != "'" for char in word)
        assert counts.accents[at] == sum(accents)
        assert counts.length[at] == len(word)
        assert counts.have(DIGIT)[at] == any(char in "0123456789" for char in word)
        assert counts.have(ACCENTS)[at] == any(kind in (ORDINARY, MARK) for kind in kinds)
        scripts = {
            int(table.script[ord(char)]) for char, kind in zip(word, kinds, strict=True) if kind not in (7, 8, 9, 10)
        }
        assert counts.mixed[at] == (len(scripts - {0}) > 1)
        only = [
            table.script[ord(char)] > LATIN
            and (not choices_of(char) or choices_of(char)[0][1] >= STRONG)
            for char in word
        ]  # fmt: skip
        assert counts.have(ONLY)[at] == any(only)


SAID = {
    "By the late Ȣtһ century": "By the late 8th century",
    "He said І'ӀІ do it": "He said I'll do it",
    "If tһeу'ԁ come": "If they'd come",
    "They won 2-Ο in the end": "They won 2-0 in the end",
    "Nеstle's Іѕt half": "Nestle's 1st half",
}


@pytest.mark.parametrize(("text", "said"), SAID.items())
def test_numbers_and_short_forms_are_read(text: str, said: str) -> None:
    assert parse("normalise")(Corpus.of([text])).strings() == [said]
