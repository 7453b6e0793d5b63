"""Restore: real examples, tricky clean texts that stay, and what must hold for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scuff.shields import parse
from scuff.shields.restore import Restore
from scuff.text.corpus import Corpus

MENDED = {
    "Adversaria attack are harmles.": "Adversarial attacks are harmless.",
    "idaAasvrler tstkaac are harmless.": "Adversarial attacks are harmless.",
    "dvrsrl ttcks are hrmlss.": "adversarial attacks are harmless.",
    "Advercerial atacs ahr harmlus.": "Adversarial attacks are harmless.",
    "I recieved teh letter from Jhon yesterday, definately.": "I received the letter from John yesterday, definitely.",
    "You are a st*pid man.": "You are a stupid man.",
    "The goverment of the United Sttaes dont know waht to do": "The government of the United States don't know what to do",
    "the well-bieng of Jhon's chidlren": "the well-being of John's children",
    "Tihs is olny the beginnning of smoething graet": "This is only the beginning of something great",
    "THE GOVERMENT RECIEVED IT": "THE GOVERNMENT RECEIVED IT",
    "It dosen’t mattter becuase we cant go tommorow": "It doesn’t matter because we can't go tomorrow",
    "Teh film is wonderfull adn teh actors aer brillant": "The film is wonderful and the actors are brilliant",
}
STAYS = [
    "",
    "The quick brown fox jumps over the lazy dog.",
    "He met Smotrycz and Robotnik in Lahontan, near Penfui.",
    "lol u r gonna luv this, omg thx!!",
    "see http://exmaple.com/teh or mail jhon@exmple.com, @teh #teh",
    "x = teh_value + recieve(foo, bar); print(x)",
    "Das ist ein kleiner Hund und er ist nicht sehr groß aber nett.",
    "Le chien est dans la maison et il ne veut pas sortir avec nous.",
    "Это маленькая собака.",
    "The NHS, the FTC and AMD met ESPN in Q4 2004, at 10pm, for 3bn.",
    "The colour of the theatre's centre was grey; we realise and realize it.",
    "Zürich, café, naïve, façade and Beyoncé's São Paulo",
    "She don't ain't y'all gotta state-of-the-art mother-in-law's",
    "😀 👍🏽 ok",
]


def mend(text: str) -> str:
    return Restore()(Corpus.of([text])).strings()[0]


@pytest.mark.parametrize(("noisy", "text"), MENDED.items())
def test_real_errors_are_mended(noisy: str, text: str) -> None:
    assert mend(noisy) == text


@pytest.mark.parametrize("text", STAYS)
def test_what_is_right_stays(text: str) -> None:
    assert mend(text) == text


def test_all_texts_at_once_are_mended_as_each_alone() -> None:
    texts = [*MENDED, *STAYS]
    assert Restore()(Corpus.of(texts)).strings() == [mend(text) for text in texts]


@pytest.mark.parametrize("text", [*MENDED])
def test_mending_twice_changes_no_more(text: str) -> None:
    assert mend(mend(text)) == mend(text)


def test_edits_say_what_was_wrong() -> None:
    corpus = Corpus.of(["dvrsrl ttcks are hrmlss."])
    (found,) = Restore().repairs(corpus).listed(corpus)
    assert [(edit.old, edit.new, kinds) for edit, kinds in found] == [
        ("dvrsrl", "adversarial", ("vowels",)), ("ttcks", "attacks", ("vowels",)), ("hrmlss", "harmless", ("vowels",)),
    ]  # fmt: skip


def test_a_rare_word_that_is_known_is_doubted_only_among_errors() -> None:
    assert mend("It is a letter form John.") == "It is a letter form John."
    assert mend("I recieved teh letter form Jhon yesterdya") == "I received the letter from John yesterday"


def test_tokens_stay_tokens() -> None:
    corpus, _ = Corpus.of_tokens([["Teh", "goverment", "recieved", "st*pid", "well-bieng", "."]])
    assert Restore()(corpus).strings() == ["The government received stupid well-being ."]


def test_it_has_a_name_and_an_option() -> None:
    assert parse("restore") == Restore()
    assert parse("restore(tier='fast')").spec == "restore"
    with pytest.raises(ValueError, match=r"expected fast or context for restore\.tier, got 'slow'"):
        Restore(tier="slow")  # type: ignore[arg-type]


WILD = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
PIECES = "teh recieve st*pid a The I'm dont JHON well-bieng x1 http://a.b/c 👍 Ж '- -- hrmlss nodLon \n . , * ''"
NOISY = st.lists(st.sampled_from(PIECES.split(" ")), max_size=12)


@given(st.lists(st.one_of(WILD, NOISY.map(" ".join), NOISY.map("".join)), max_size=4))
def test_any_text_can_be_mended_and_others_do_not_matter(texts: list[str]) -> None:
    assert Restore()(Corpus.of(texts)).strings() == [mend(text) for text in texts]
