"""Normalise: what is disguised is read, what is right stays."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scuff
from scuff.shields import Corpus, parse

SHIELD = parse("normalise")
SENTENCE = "The quick brown fox jumps over the lazy dog, and nobody in the village will ever say a word about it."


def mended(text: str) -> str:
    return SHIELD(Corpus.of([text])).strings()[0]


RIGHT = [
    "Plain ASCII: 100 % of it! O0 l1I| rn m \t\r\n ~",
    "A café near the Škoda works, a naïve Ångström fan, Beyoncé's fiancée and Dvořák's façade.",
    "“Quotes” – dashes — and don’t… 20 °C, ½ cup, 5 µm, 3 × 4 ≤ 12, 10 €, ACME™, m², CO₂, H₂O, 10⁶, 1ˢᵗ, ① first, Ⅷ.",
    "TNF-α, β-carotene, IFNγ, Δt = 5μs, the α subunit and λ calculus, π is 3.14.",
    "He says [ˈkɑːtʃ] or /ˈθɪŋ/.",
    "Привет, как дела? А у нас всё хорошо, сор и хор.",
    "He wrote «Москва и хор» on the wall in Moscow.",
    "Ζαγόρι Α Ε. Καλημέρα κόσμε, τι κάνετε;",
    "می‌خواهم کتاب‌ها را ببینم",
    "क्‍ष और हिन्दी में लिखा हुआ पाठ",
    "ශ්‍රී ලංකා",
    "שָׁלוֹם עֲלֵיכֶם \u200fabc\u200e (טוב)",
    "ภาษาไทย\u200bง่ายมาก",
    "Tiếng Việt rất đẹp và dễ học.",
    unicodedata.normalize("NFD", "Tiếng Việt rất đẹp, café, Ångström."),
    "今日はＴＶを見る。「こんにちは」！　元気？",
    "中文（测试），全角。",
    "👨‍👩‍👧‍👦 🏳️‍🌈 ❤️ 👍🏽 1️⃣ 🇩🇪🇫🇷 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f ☺️",
    "Für schöne Größe über Straßen, dafür größere Füße.",
    "Le garçon a été très gêné à cause de la théorie générale.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ",
    "10\u00a0km, « oui\u00a0! »",
    "E = mc², with 𝑥 in ℝ.",
    "Prices: ₩500, ₱100 or ₦20; ∀x",
    "هذا نص عربي، وهو جميل۔ It is fine.",
]


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_stays(text: str) -> None:
    assert mended(text) == text


WRONG = {
    "free ₥oney, no com₥ent on the Vi㇑꒐age": "free money, no comment on the Village",  # signs, strokes, radicals
    "The ṥwelIed сrowd⸼ gone⹁ he ѕaid܂ (yеs❳": "The swelled crowd, gone, he said, (yes)",
    "𝓱𝓮𝓵𝓵𝓸 𝔀𝓸𝓻𝓵𝓭": "hello world",
    "ⓗⓔⓛⓛⓞ": "hello",
    "🅷🅴🅻🅻🅾": "HELLO",
    "ｈｅｌｌｏ， ｗｏｒｌｄ！": "hello, world!",
    "ᴛʜɪs ɪs sᴍᴀʟʟ": "this is small",
    "ᵗʰⁱˢ ⁱˢ ʰⁱᵍʰ": "this is high",
    "🇭🇪🇱🇱🇴": "HELLO",
    "h̷e̷l̷l̷o̷ w̲o̲r̲l̲d̲": "hello world",
    "Z̸̡̛a̵͠l̷g̴o̶ is here": "Zalgo is here",
    unicodedata.normalize("NFD", "t́ḧi̱ṣ i̱ś p̱äṯṟọḻ wọr̈ḵ"): "this is patrol work",
    unicodedata.normalize("NFD", "p̈ün̈c̈ḧ-drunk än̈d̈ S̈e̱ǵa̱'̈ṣ"): "punch-drunk and Sega's",
    "What an ọbṣëssïọn ạnd ṛéṣpọṇṣé": "What an obsession and response",
    "раураl": "paypal",
    "Log in to раураl now": "Log in to paypal now",
    "The сор is hеrе": "The cop is here",
    "Ιt wiΙΙ be Ιast": "It will be last",
    "Born in 2Ο15": "Born in 2015",
    "тeст нa русском языкe": "тест на русском языке",
    "h\u200bel\u00adlo\U000e0061 the\ufe0fre": "hello there",
    "a\u2003wide\u00a0blank\u2028line": "a wide blank\nline",
    "\u202eolleh\u202c there": "hello there",
    "le\u200eft": "left",
    "secrex\x08t": "secret",
    "ﬁne oﬃce": "fine office",
    "The ḧöuṡe ịs ȧ ḃig oṅe": "The house is a big one",
    "ʎɐpoʇ plɹoʍ ollǝɥ": "hello world today",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_what_is_disguised_is_read(text: str, said: str) -> None:
    assert mended(text) == said


def test_texts_do_not_know_each_other() -> None:
    together = SHIELD(Corpus.of([*RIGHT, *WRONG])).strings()
    assert together == [*RIGHT, *map(mended, WRONG)]


def test_the_end_of_a_text_is_not_beside_the_next() -> None:
    texts = ["Bоrn in 1905", "І cаme tоo lаte, and I аm sоrry", "[see this /", "ʙаd wоrds", "/ and ]"]
    together = SHIELD(Corpus.of(texts)).strings()
    assert together == [mended(text) for text in texts]
    assert together[1].startswith("I c")


def test_kinds_say_what_was_found() -> None:
    corpus = Corpus.of(["раураl", "h\u200bi", "le\u200eft", "h̷i̷", "ｈｉ", "𝓱𝓲", "a\u2003b", "The ḧouṡe"])
    found = SHIELD.repairs(corpus)
    kinds = [{kind for _, names in edits for kind in names} for edits in found.listed(corpus)]
    names = ("confusable", "invisible", "bidi", "marks", "width", "styled", "space", "accent")
    assert kinds == [{name} for name in names]


@pytest.mark.parametrize(
    "perturbation", ["homoglyph(phi=0.3)", "homoglyph(phi=0.3, scripts='all')", "invisible(phi=0.3)"]
)
def test_perturbed_text_comes_back(perturbation: str) -> None:
    texts = [f"{SENTENCE} {number}0 times." for number in range(3, 14)]
    back = SHIELD(Corpus.of(scuff.perturb(texts, perturbation, 1.0, seed=3))).strings()
    words = [pair for old, new in zip(texts, back, strict=True) for pair in zip(old.split(), new.split(), strict=True)]
    assert sum(old == new for old, new in words) > 0.99 * len(words)


ODD = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from(
            "aeIl10O \u200b\u200d\u200f\u202e\u2066\u2069\u0301\u0337аеΙαɑｈ𝓱ⓗ🇭👩❤\ufe0f\u20e3ä’'\x08\x7fﬁ日ا"
        ),
    ),
    max_size=30,
)


@given(st.lists(ODD, max_size=6))
def test_any_text(texts: list[str]) -> None:
    corpus = Corpus.of(texts)
    repairs = SHIELD.repairs(corpus)
    result = SHIELD(corpus).strings()
    assert corpus.apply(repairs.edits).strings() == result
    assert result == [mended(text) for text in texts], "a text does not depend on its neighbours"
    assert all(repairs.kind)


WORDS = (
    "un garçon près de la mer, où l'été, déjà-vu, hält für Mädchen größe. žlutý kůň před má dívá trávě señor año niño café "
    "résumé naïve héllo wörld thé cät díd nót whát pleásé 1ó3 2º “à” – ÀÉÎ Été i ì í "
    "the of and to did not what please a man is in this house with his dog 3 it's"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))
def test_a_glance_clears_no_text_that_would_be_changed(text: str) -> None:
    assert SHIELD.in_doubt([text]) or mended(text) == text
    assert SHIELD.leaves(text) == (not SHIELD.in_doubt([text]))


def test_a_glance_is_enough_for_plain_and_for_accented_texts() -> None:
    texts = ["Plain text.", "Úterý je žlutý.", "thé cät", "Москва", "a\bb", "Été\u200b", "Où est l’été ?"]
    assert SHIELD.in_doubt(texts) == [2, 3, 4, 5]
    assert SHIELD.in_doubt(texts) == [2, 3, 4, 5], "what is remembered says the same"


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_ascii_is_identical(text: str) -> None:
    assert not len(SHIELD.repairs(Corpus.of([text])))


@pytest.mark.parametrize("perturbation", ["homoglyph", "visual", "invisible", "glyph"])
def test_what_is_mended_stays_mended(perturbation: str) -> None:
    once = SHIELD(Corpus.of(scuff.perturb([SENTENCE] * 20, perturbation, 0.3, seed=1)))
    assert sum(a == b for a, b in zip(once.strings(), SHIELD(once).strings(), strict=True)) >= 19


def test_words_of_two_alphabets_at_once_stay() -> None:
    text = "a ЖΑΨАДωоЩΞϕ"  # letters that only Greek has, and only Cyrillic: no look-alike is of the wrong alphabet
    assert parse("normalise")(Corpus.of([text])).strings() == [text]
