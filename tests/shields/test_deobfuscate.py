"""Deobfuscate: disguises that people use are undone, and what only looks like one stays."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.perturbations.names import NAMES as PERTURBATIONS
from scuff.shields import Corpus, parse
from scuff.shields.deobfuscate import KINDS, Deobfuscate, glued, spacing
from scuff.shields.deobfuscate.errors import Errors
from scuff.shields.deobfuscate.glued import misspelt_bits
from scuff.shields.deobfuscate.misspelt import misspelt_parts
from scuff.shields.deobfuscate.splitting import split
from scuff.shields.language import english
from scuff.shields.lexicon import lexicon
from scuff.shields.restore.candidates import KINDS as ERRORS
from scuff.shields.restore.candidates import SHUFFLED, candidates
from scuff.text.ragged import Ragged
from scuff.text.random import one_edit_away, part_bits, text_bits

SHIELD = Deobfuscate()


def mended(text: str) -> str:
    return SHIELD(Corpus.of([text])).strings()[0]


DISGUISED = [
    # symbols in every gap, or in one
    ("What a w.o.n.d.e.r.f.u.l day", "What a wonderful day"),
    ("this is s-t-u-p-i-d", "this is stupid"),
    ("so f*u*n*n*y", "so funny"),
    ("he_llo there", "hello there"),
    ("per/fect", "perfect"),
    ("it was ter.rible", "it was terrible"),
    ("an ex-cel-lent idea", "an excellent idea"),
    ("h•e•l•l•o my friend", "hello my friend"),
    ("inter<esting stuff", "interesting stuff"),
    ("h~el~lo w[orl[d", "hello world"),
    ("in 20[13 there were 5,5$00 of them, th~ey s(ay", "in 2013 there were 5,500 of them, they say"),
    ("the p(lai(ns/Colorado re~gion", "the plains/Colorado region"),
    ("we don~'t k~now", "we don't know"),
    # a word that is no word stays one: what else is wrong with it is for others to mend
    ("c~o~m~plt~e", "complte"),
    # blanks
    ("h e l l o my friend", "hello my friend"),
    ("F R E E money", "FREE money"),
    ("I h a t e it", "I hate it"),
    ("completely wo rth less", "completely worthless"),
    ("a bor ing film", "a boring film"),
    ("t h i s i s m y p l a c e", "this is my place"),
    ("w a r n i n g: do not", "warning: do not"),
    ("t h i s i s a n e x a m p l e o f s p a c e d t e x t", "this is an example of spaced text"),
    ("h e l l o m y f r i e n d in 2 0 0 8 and 200 9 we m e t", "hello my friend in 2008 and 2009 we met"),
    # leet, and stars for vowels
    ("th1s is c00l", "this is cool"),
    ("H3LL0 world", "HELLO world"),
    ("such a w@ste of t1me", "such a waste of time"),
    ("p@ssw0rd", "password"),
    ("$tupid", "stupid"),
    ("what a cla$$ act", "what a class act"),
    ("st*pid idea", "stupid idea"),
    # stretched letters
    ("sooooo gooood", "so good"),
    ("noooooo waaaay", "no way"),
    ("reallllly happy", "really happy"),
    ("helllooooo there", "hello there"),
    # blanks that are missing or doubled
    ("thisisanexample of it", "this is an example of it"),
    ("Idon'tknow", "I don't know"),
    ("thisisatest", "this is a test"),
    ("t h i s i s a t e s t", "this is a test"),
    ("we went tothe park", "we went to the park"),
    ("I like it alot", "I like it a lot"),
    ("infact it is good", "in fact it is good"),
    ("she lived in1990 in theUnited States", "she lived in 1990 in the United States"),
    ("a well-knownstory", "a well-known story"),
    ("this  is  a  very  nice  day", "this is a very nice day"),
]


@pytest.mark.parametrize(("text", "wanted"), DISGUISED)
def test_disguises_are_undone(text: str, wanted: str) -> None:
    assert mended(text) == wanted
    assert mended(wanted) == wanted


CLEAN = r"""
and/or he/she s/he w/o n/a 24/7 I/O A/C km/h
e.g. i.e. a.m. p.m. U.S. U.S.A. a.k.a. Ph.D. J. R. R. Tolkien U.S.-born
10.5 3,000 1,234.56 12:30 $5.99 50% 1990s 4th 21st 2nd v1.2.3 3.5mm 5'10" 7-0 10k 4K 1080p US$40
B2B MP3 C3PO R2D2 covid19 H2O CO2 B12 A4 G20 F16 PS5 4x4 W3C i18n utf8 x86 k8s MI6 U2 level5 lab5 T34 top10
well-known co-operate e-mail on-line re-elect mother-in-law x-ray T-shirt Wi-Fi twenty-one tight-lipped
don't it's o'clock rock'n'roll O'Brien y'all ma'am 'em '90s the boys' d'Artagnan
AT&T R&B Q&A P&L S&P M&Ms IBM.N Ke$ha
#hashtag #ThisIsAHashtag @user_name @john.doe user@example.com http://a.b/c?d=e https://www.x.org/a_b www.example.com example.com
snake_case camelCase CamelCase foo() foo.bar a.b.c x=y+z a[i] __init__ std::vector C++ C# .NET node.js file.txt /usr/bin/env
:-) ;-) :D <3 ... !!! ?! (: xD ^_^ -_-
aaa www xxx Mmm hmm ahhh ohhh III VIII XXX zzz shhh brrr
a b c; A B C D; x y z; I I I; grade A B; vitamin C or D
JavaScript YouTube iPhone eBay McDonald MacBook GitHub LaTeX PowerPoint
Schwarzenegger Wolfowitz Clearwater Newcastle Greenfield Blackburn Barcelona
methylphenidate acetylsalicylic dichlorodiphenyltrichloroethane
word...word word--word word—word end.Start word(s) him/herself [sic]
sentence one.  Sentence two.  Three.
    indented = code
name      age     town
a b c d e f g h i j k l m n o p q r s t u v w x y z
today, tonight, cannot, into, onto, whatever, nevertheless, notwithstanding
therapist forget altogether island manslaughter together carpet legend
1,000,000 2+2=4 5*3 2^10 10-20 1/2 3:1 2001-2005 +49-89-1234
no-one cant wont dont im ive youre belive benifit
Xi'an Qur'an Hawai'i L'Oreal La Russa
Ein Mann, der mit seinem Tennisball auf dem Sportplatz steht
Un homme assis sur un banc n'est pas seul, c'est-à-dire qu'il attend
""".strip("\n").split("\n")


@pytest.mark.parametrize("text", CLEAN)
def test_clean_text_stays(text: str) -> None:
    assert mended(text) == text
    for word in text.split():
        assert mended(word) == word


def test_weak_signs_count_in_a_text_with_strong_ones() -> None:
    assert mended("see this and N B C news and wo.rdz") == "see this and N B C news and wo.rdz"
    assert mended("s~ee th}is and N B C news and wo.rdz") == "see this and NBC news and wordz"


def test_kinds_say_what_was_found() -> None:
    text = "h.e.l.l.o th1s is sooooo  b o r i n g  and  tothe  po int"
    corpus = Corpus.of([text])
    found = SHIELD.repairs(corpus)
    assert corpus.apply(found.edits).strings() == ["hello this is so boring and to the point"]
    counts = dict(zip(KINDS, found.counts(1)[0].tolist(), strict=True))
    assert counts == {"symbols": 4, "leet": 1, "stretched": 1, "doubled-space": 4, "spaced": 6, "glued": 1}
    edit, kinds = found.listed(corpus)[0][0]
    assert (edit, kinds) == ((1, 2, ".", ""), ("symbols",))


def test_tokens_get_no_blanks() -> None:
    corpus, _ = Corpus.of_tokens([["h.e.l.l.o", "w", "o", "r", "l", "d", "tothe"]])
    assert SHIELD(corpus).strings() == ["hello w o r l d tothe"]


def test_it_has_a_name() -> None:
    assert parse("deobfuscate") == SHIELD


# ---- properties ----

ODD = "hello he.llo w@rld s o o o gooood thisis a- -b 'tis U.S. 10.5 @x #y_z http://a.b x3y é́ 中文 😀 $a a$ * tothe"
PIECES = st.sampled_from([*ODD.split(), "", "\n", "\u200d"])
TEXTS = st.lists(st.one_of(st.text(max_size=30), st.lists(PIECES, max_size=9).map(" ".join)), max_size=3)


@given(TEXTS)
def test_any_text_is_mended_alike_alone_and_among_others(texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    repairs = SHIELD.repairs(corpus)
    together = SHIELD(corpus).strings()
    assert corpus.apply(repairs.edits).strings() == together
    assert together == [mended(text) for text in texts]
    assert np.all(repairs.kind > 0)


@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_what_is_mended_needs_no_mending(text: str) -> None:
    once = mended(text)
    twice = mended(once)
    assert twice == mended(twice), "two turns are enough even where one was not"


SENTENCES = [
    "The committee will publish its final report about the accident before the end of the year.",
    "She bought three tickets for the late show, but nobody wanted to come with her.",
    "It is a charming film with a clever story and a wonderful cast of young actors.",
    "Several members of the government said on Monday that they had not been asked.",
    "Please send me the address of the hotel and the time when the train arrives.",
    "He has lived in the same small town since 1987, and he does not want to leave.",
]


@pytest.mark.parametrize("name", ["intrude", "segment"])
@pytest.mark.parametrize("level", [0.2, 0.5, 0.8])
def test_our_own_perturbations_are_undone(name: str, level: float) -> None:
    corpus = Corpus.of(SENTENCES * 5, ids=range(30))
    wanted = [re.findall(r"\w+", text) for text in corpus.strings()]
    found = [re.findall(r"\w+", text) for text in SHIELD(PERTURBATIONS[name]()(corpus, level, seed=4)).strings()]
    missing = sum(len(set(old) - set(new)) for old, new in zip(wanted, found, strict=True))
    assert missing <= 0.03 * sum(map(len, wanted))


# ---- parts ----


def test_splits_are_the_cheapest() -> None:
    words = ["thisisanexample", "hewas", "theUnitedStates", "the19thcentury", "filmmaker", "don'tknow"]
    ways = split(Ragged.of(words))
    pieces = []
    for at, word in enumerate(words):
        cuts = [0, *ways.cut[ways.word == at].tolist(), len(word)]
        pieces.append(" ".join(word[a:b] for a, b in pairwise(cuts)))
    assert pieces == [
        "this is an example",
        "he was",
        "the United States",
        "the 19th century",
        "filmmaker",
        "don't know",
    ]
    assert ways.parts.tolist() == [4, 2, 3, 3, 1, 2]
    assert ways.known.all()


def test_split_costs_are_those_of_pairs() -> None:
    """The slow way: every way to cut a word, by the lexicon's costs of pairs."""
    word = "itisfine"
    best = np.inf
    for cuts in range(1 << len(word) - 1):
        parts, start = [], 0
        for place in range(1, len(word) + 1):
            if place == len(word) or cuts >> place - 1 & 1:
                parts.append(word[start:place])
                start = place
        number = lexicon().number(Ragged.of(parts))
        if (number >= 0).all():
            left = np.append(-1, number[:-1])
            best = min(best, float(lexicon().pair_cost(left, number).sum()) + 0.5 * (len(parts) - 1))
    assert split(Ragged.of([word])).bits[0] == pytest.approx(best, abs=0.01)


@given(st.lists(st.text("abcxyz'", max_size=6), min_size=1, max_size=4))
def test_hashes_of_parts_and_of_words_one_edit_away(words: list[str]) -> None:
    texts = Ragged.of(words)
    for length in (1, 2, 5):
        keys = part_bits(texts, length)
        joined = "".join(words)
        for at in range(len(joined) - length + 1):
            assert keys[at] == text_bits(Ragged.of([joined[at : at + length]]))[0]
    found: list[set[int]] = [set() for _ in words]
    for owner, _, keys in one_edit_away(texts):
        for at, key in zip(owner.tolist(), keys.tolist(), strict=True):
            found[at].add(key)
    letters = "'abcdefghijklmnopqrstuvwxyz"
    for word, keys_of_word in zip(words, found, strict=True):
        if not word:
            continue
        near = {word[:i] + word[i + 1 :] for i in range(len(word))}
        near |= {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}
        near |= {word[:i] + letter + word[i + 1 :] for i in range(len(word)) for letter in letters}
        near |= {word[:i] + letter + word[i:] for i in range(len(word) + 1) for letter in letters}
        assert keys_of_word == set(text_bits(Ragged.of(sorted(near))).tolist())


def test_misspelt_words_are_near_a_word() -> None:
    bits = misspelt_bits(Ragged.of(["belive", "qqqqqqq"]))
    assert bits[0] < 30 and np.isinf(bits[1])


def test_small_words_tell_languages() -> None:
    texts = [
        "Ein Mann und eine Frau sind auf dem Weg",
        "le chien est dans la rue avec une femme",
        "the man from la Mancha is on it",
        "z",
    ]
    corpus = Corpus.of(texts)
    unknown = np.zeros(len(corpus.words), np.bool_)
    assert english(corpus, corpus.words, unknown, np.arange(4)).tolist() == [False, False, True, True]
    assert english(corpus, corpus.words, unknown, np.array([0])).tolist() == [False, True, True, True]
    assert english(corpus, corpus.words, ~unknown, np.arange(4)).all()


def test_words_that_run_together_come_apart_in_spite_of_errors() -> None:
    text = (
        "tothe Goveernment that sbmitted areport ofthe separatedepartmentsuspporting ach service intoa singldepartment"
    )
    assert mended(text) == (
        "to the Goveernment that sbmitted a report of the separate department suspporting ach service into a singl department"
    )


def test_letters_that_only_look_plain_do_not_hold_words_together() -> None:
    text = "tooserious tobe funny , pretentioústo the end andthe clever storywas thêisle ofa cliché"
    assert (
        mended(text) == "too serious to be funny , pretentious to the end and the clever story was the isle of a cliché"
    )
    kinds = dict(zip(KINDS, SHIELD.repairs(Corpus.of([text])).counts(1)[0].tolist(), strict=True))
    assert kinds["symbols"] == 2 and kinds["glued"] == 7


@pytest.mark.parametrize(
    "text",
    [
        "They sbmitted a recomendation to the Goveernment abuot the departmnet and the commitee",
        "Rindfleischetikettierungsgesetz und die Kraftfahrzeughaftpflichtversicherung",
        "methylchloroisothiazolinone and hydroxypropylmethylcellulose in ethylenediaminetetraacetic acid",
        "Krzyzewski Papandreou Thessaloniki Srebrenica Karabelas Azevedo Ivanisevic",
        "The Sh'ite party and Qur'an readers",
    ],
)
def test_errors_names_and_compounds_alone_are_no_missing_blanks(text: str) -> None:
    assert mended(text) == text


def test_parts_are_what_restore_takes_them_for() -> None:
    """By every kind of error of its candidates, with its bits; a word beside another one only by its number."""
    words, none = Ragged.of(["tegovernmnet", "hsepoadn"]), np.full(2, -1)
    errors = Errors.find(words, np.zeros(2), none, none, near=True)
    meant = lexicon().words.take(errors.word).strings()
    found = set(zip(errors.of.tolist(), errors.start.tolist(), errors.stop.tolist(), meant, strict=True))
    assert {(0, 0, 2, "the"), (0, 2, 12, "government"), (1, 0, 5, "hopes"), (1, 5, 8, "and")} <= found
    one = errors.where((errors.of == 0) & (errors.start == 2) & (errors.stop == 12))
    alone = candidates(Ragged.of(["governmnet"]), 4, near=True)
    assert dict(zip(one.word.tolist(), one.bits.tolist(), strict=True)) == pytest.approx(
        dict(zip(alone.word.tolist(), (lexicon().cost[alone.word] - alone.channel).tolist(), strict=True))
    )
    part = errors.take(np.array([1]))
    assert set(part.of.tolist()) == {0} and part.before.size == 1


def test_kinds_of_errors_that_a_text_has_are_cheaper_in_it() -> None:
    words, none = Ragged.of(["hsepoadn", "dnahsepo"]), np.full(2, -1)
    errors = Errors.find(words, np.zeros(2), none, none, near=True)
    seen = np.zeros((2, len(ERRORS)), np.int64)
    seen[0, SHUFFLED] = 5
    again = errors.again(seen, np.array([0, 1]))
    shuffled, first = errors.kind == SHUFFLED, errors.of == 0
    assert (again.bits < errors.bits)[shuffled & first].all()
    assert (again.bits > errors.bits)[~shuffled & first].all()
    assert again.bits[~first] == pytest.approx(errors.bits[~first])


def test_a_misspelt_part_of_a_word_is_found_by_what_its_error_leaves() -> None:
    found = {
        (length, at): lexicon().words.take(word[place : place + 1]).strings()[0]
        for length, starts, word, _ in misspelt_parts(Ragged.of(["xxdprtmntxx", "xsceretaryx", "xofdepatmentx"]))
        for place, at in enumerate(starts.tolist())
    }
    assert found[7, 2] == "department"  # without its vowels
    assert found[9, 12] == "secretary"  # in another order
    assert found[9, 25] == "department"  # without a letter


DECENT = {  # with harmless words in the place of those that offend: sorry, finder
    "I am so r ry for that.": "I am so r ry for that.",  # so is a word
    "I am s o r r y for that.": "I am sorry for that.",
    "I am s*o*r*r*y for that.": "I am sorry for that.",
    "I am s0rry for that.": "I am sorry for that.",
    "This is my therapistfinder app.": "This is my therapistfinder app.",
    "This is where thefinder is.": "This is where the finder is.",
}


def test_clean_words_make_none_that_offends(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = np.zeros(len(lexicon()), np.bool_)
    listed[lexicon().number(Ragged.of(["sorry", "finder"]))] = True
    before = parse("deobfuscate")(Corpus.of(list(DECENT))).strings()
    assert before[0] == "I am sorry for that." and before[4] == "This is my therapist finder app."
    for module in (spacing, glued):
        monkeypatch.setattr(module, "offensive", lambda: listed)
    assert parse("deobfuscate")(Corpus.of(list(DECENT))).strings() == list(DECENT.values())
