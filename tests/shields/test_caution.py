"""What shields leave alone in clean text, and what they still mend."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.shields import parse
from scuff.shields.lexicon import lexicon
from scuff.shields.restore import caution
from scuff.shields.restore.candidates import TYPO, candidates
from scuff.shields.restore.page import Page
from scuff.text.corpus import Corpus
from scuff.text.ragged import Ragged

STAYS = [
    "Ich habe gestern meine Schlüssel verloren",
    "Hoy llueve mucho en Bogotá",
    "Gdzie jest dworzec?",
    "Lorem ipsum dolor sit amet",
    "Ótimo produto, entrega rápida",
    "Bugün hava çok güzel",
    "Gracias por todo",
    "Send it to Caoimhe and Aoife.",
    "Tadhg and Niamh are engaged.",
    "We met the Etxeberria family and Ngozi yesterday.",
    "Nnamdi drinks ayran every day.",
    "TSLA",
    "I bought TSLA last week",
    "M*A*S*H and N*E*R*D",
    "She takes Xarelto, Ozempic, Wegovy",
    "Mbappé scored twice",
    "Add 5 μL of water",
    "idk tbh",
    "smh fr",
    "gm fam",
    "wyd rn",
    "The river Hu is long.",
    "see [[WP:EL|here]] please",
    "The [[User talk:Foo|talk]] page of {{unsigned|Foo}} is there.",
    "thank you SomeUserName99 for this",
    "JohnSmith42 wrote this",
    "User bigjohnsmith77 and greenapple12 said so",
]
MENDED = {
    "The staff were freindly and the romm was spotless": "The staff were friendly and the room was spotless",
    "I will recieve it tommorow": "I will receive it tomorrow",
    "The resturant was nice": "The restaurant was nice",
    "I was embarassed": "I was embarrassed",
    "wich one do you want": "which one do you want",
    "dvrsrl ttcks are hrmlss.": "adversarial attacks are harmless.",
    "recieve": "receive",
    "what youre saying is wrong": "what you're saying is wrong",
    "She luved the film.": "She loved the film.",
    "chapter12 of thebook is onpage 5": "chapter 12 of the book is on page 5",
    "The film was colorfu and full of jokes": "The film was colorful and full of jokes",
}


@pytest.fixture(scope="module", params=["fast", "context"])
def chain(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_clean_texts_stay(chain: str) -> None:
    assert parse(chain)(Corpus.of(STAYS)).strings() == STAYS


def test_errors_are_mended(chain: str) -> None:
    assert parse(chain)(Corpus.of(list(MENDED))).strings() == list(MENDED.values())


@pytest.mark.parametrize(("words", "made"), [(20, True), (60, False)])
def test_guesses_need_a_text_with_many_errors(words: int, made: bool) -> None:
    text = " ".join(["hominini", "hominini", "luved", *["the house is old and very large"] * (words // 7)])
    page = Page.of(Corpus.of([text]))
    word = int(lexicon().number(Ragged.of(["dominion"]))[0])
    unit = np.array([0, 1, 2])
    far = np.array([-30, -30, -9], np.float32)
    assert (
        caution.allowed(caution.Changes(page, unit, np.full(3, word), far, np.full(3, TYPO))).tolist()[:2] == [made] * 2
    )


DISGUISES = {  # with a harmless word in the place of one that offends
    ("st*pid", "stupid"): True,
    ("s**pid", "stupid"): True,
    ("s****d", "stupid"): False,
    ("stuipd", "stupid"): True,
    ("stuqid", "stupid"): True,
    ("stuppid", "stupid"): True,
    ("stuid", "stupid"): True,
    ("stpid", "stupid"): False,
    ("stpd", "stupid"): True,
    ("sutpid", "stupid"): True,
    ("suiptd", "stupid"): True,
    ("stupi", "stupid"): False,
    ("tupid", "stupid"): False,
    ("dtupid", "stupid"): False,
    ("pitsud", "stupid"): False,
    ("stewpid", "stupid"): False,
    ("por", "port"): False,
    ("pert", "port"): False,
    ("p*rt", "port"): True,
}


@pytest.mark.parametrize(("pair", "kept"), DISGUISES.items())
def test_what_a_disguise_is(pair: tuple[str, str], kept: bool) -> None:
    assert caution.disguised(*pair) is kept


def test_words_that_offend_need_a_disguise_or_a_text_that_speaks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    both = lexicon().number(Ragged.of(["stupid", "awful"]))  # harmless words in the place of some that offend
    listed = np.isin(np.arange(len(lexicon())), both)
    monkeypatch.setattr(caution, "offensive", lambda: listed)
    noisy = Ragged.of(["st*pid", "stuipd", "stpd", "dutsip"])
    found = candidates(noisy)
    left = caution.decent(found, noisy)
    mine, kept = found.word == both[0], left.word == both[0]
    assert {0, 1, 2, 3} == set(found.of[mine].tolist()) == set(left.of[kept].tolist())
    less = left.channel[kept] - found.channel[mine]
    assert less.tolist() == [0, 0, 0, -caution.SHAME]  # only what is no disguise became less likely
    assert (found.word != both[0]).sum() == (left.word != both[0]).sum()
    calm, tampered, coarse = (
        "He gave me a stewpid answer on the phone and left the room before lunch.",
        "He gvae me a stewpid asnwer on the pohne and lfet the room before lucnh.",
        "He gave me an awful and stewpid answer on the phone and left the room before lunch.",
    )
    for tier in ("fast", "context"):
        shield = parse(f"restore(tier='{tier}')")
        done = ["stupid" in text for text in shield(Corpus.of([calm, tampered, coarse])).strings()]
        assert done == [False, True, True]


def test_words_that_offend_are_few_and_plain_words_are_not_among_them() -> None:
    assert 100 < caution.offensive().sum() < 1000
    plain = lexicon().number(Ragged.of(PLAIN))
    assert not caution.offensive()[plain[plain >= 0]].any()


PLAIN = ["the", "spicy", "port", "title", "analyst", "classic", "stupid", "have", "about", "cumin", "japan"]
NAMES = st.text("abcdefghijklmnopqrstuvwxyzéø", min_size=3, max_size=9).map(str.capitalize)


@given(NAMES)
def test_no_word_that_offends_is_written_for_a_name(name: str) -> None:
    text = f"They asked {name} to open the window."
    (mended,) = parse("fast")(Corpus.of([text])).strings()
    words = mended.removeprefix("They asked ").removesuffix(" to open the window.")
    number = int(lexicon().number(Ragged.of([words]))[0])
    assert words == name or not caution.offensive()[number] or caution.disguised(name.lower(), words.lower())
    assert mended.startswith("They asked ") and mended.endswith(" to open the window.")


@pytest.mark.parametrize("chain", ["fast", "context"])
@pytest.mark.parametrize(
    "text",
    [
        "Aoife, Saoirse and Caoimhe went to Dun Laoghaire with Xochitl.",  # names alone are no sign of tampering
        "H₂O, CO₂, Na⁺, 10⁻³ mol·L⁻¹, 5·10⁶ cells",
        "SELECT usr_id, cnt FROM tbl WHERE ts > '2020-01-01';",
        "I like Ke$ha and A$AP Rocky.",
    ],
)
def test_names_quantities_and_queries_stay(text: str, chain: str) -> None:
    assert parse(chain)(Corpus.of([text])).strings() == [text]


MASKS = {
    ("b**k", "book"): True,
    ("b**k", "back"): True,
    ("b**k", "full"): False,  # other letters than those that are seen
    ("p***y", "party"): False,  # too few are seen
    ("s**pid", "stupid"): True,
    ("st*pid", "street"): True,  # one symbol may have come in, and a letter be wrong besides
}


@pytest.mark.parametrize(("pair", "fits"), MASKS.items())
def test_what_a_mask_of_several_symbols_may_hide(pair: tuple[str, str], fits: bool) -> None:
    word = lexicon().number(Ragged.of([pair[1]]))
    assert caution._fits(Ragged.of([pair[0]]), word).tolist() == [fits]


def test_masks_stay_masks_until_a_word_fits() -> None:
    text = "Th1s is a b*a*d d*a*y, wh*t the b**k, p***y and h**e**l**l**o"
    assert parse("deobfuscate")(Corpus.of([text])).strings() == ["This is a bad day, what the b**k, p***y and hello"]


@pytest.mark.parametrize("text", ["The troops were enfiladed from the hill.", "Two unveilings were held on Monday."])
def test_regular_forms_of_rare_words_stay(text: str, chain: str) -> None:
    assert parse(chain)(Corpus.of([text])).strings() == [text]
