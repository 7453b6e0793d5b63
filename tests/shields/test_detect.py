"""Detector: disguised texts raise an alarm, texts that are right do not, whatever characters they need."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scuff
from scuff.shields.detect import KINDS_OF_TAMPERING, Detector, features, kinds_of_repairs, shipped
from scuff.text.corpus import Corpus

DETECTOR = Detector()
SENTENCES = [
    "The committee will meet again next week to discuss the new plan for the city library.",
    "I really enjoyed this film, although the ending was a little too long for my taste.",
    "Several people were waiting outside the station when the first train arrived in the morning.",
    "She bought fresh bread, some cheese and two bottles of milk at the market on Saturday.",
]
RIGHT = [
    *SENTENCES,
    "",
    "ok",
    "A family: 👨‍👩‍👧‍👦, a flag: 🏳️‍🌈, a key: 1️⃣, a heart: ❤️ and a thumb: 👍🏽.",
    "می‌خواهم کتاب‌ها را ببینم",
    "क्‍ष और हिन्दी में लिखा हुआ पाठ",
    "ශ්‍රී ලංකා",
    "שָׁלוֹם עֲלֵיכֶם",
    "\u200fמזל טוב\u200f, said the \u200eLTR\u200e label.",
    "ภาษาไทย\u200bง่ายมาก",
    "Tiếng Việt rất đẹp và dễ học.",
    "Это обычный русский текст, и в нём нет ничего странного.",
    "今日はＴＶを見る。「こんにちは」！",
    "Das ist ein guter Tag für einen Spaziergang im Wald.",
    "C'est une belle journée pour marcher dans la forêt.",
    "Dit is een mooie dag om te wandelen in het bos.",
    "Je to krásný den na procházku lesem, ale je už pozdě.",
    "The café owner's fiancée met Dvořák's grandson in São Paulo.",
    "Me encanta este lugar",
    "Wij gaan morgen met de fiets naar het strand",
    "Kävin eilen kaupassa ostamassa leipää ja maitoa",
    "Tum kahan ho yaar",
    "Kecha do'stlarimiz bilan kinoga bordik",
    "if (ptr != NULL) free(ptr);",
    "sudo systemctl restart nginx",
    "const x = await fetch(url).then(r => r.json());",
    "Mar 12 06:25:43 host sshd[2211]: Failed password for root from 10.0.0.3 port 4022 ssh2",
    "wyd rn",
    "hbu",
    "smh fr",
    "tmrw at noon?",
]
SPELLED = [
    "h e l l o my dear friend",
    "sooooo haaaappy",
    "t h i s i s a t e s t",
    "go awaaaaay pleeeease",
    "w h a t is this",
]


def test_texts_that_are_right_raise_no_alarm() -> None:
    found = DETECTOR(RIGHT)
    assert [text for text, verdict in zip(RIGHT, found, strict=True) if verdict.tampered] == []


def test_spelled_and_stretched_words_raise_an_alarm() -> None:
    assert [text for text, verdict in zip(SPELLED, DETECTOR(SPELLED), strict=True) if not verdict.tampered] == []


@pytest.mark.parametrize(
    ("perturbation", "kind"),
    {
        "homoglyph": "look-alike",
        "visual": "look-alike",
        "invisible": "invisible",
        "intrude": "symbols",
        "segment": "spacing",
        "keyboard": "spelling",
        "inner-shuffle": "shuffled",
        "disemvowel": "shortened",
    }.items(),
)
def test_disguised_texts_are_found_with_their_kind(perturbation: str, kind: str) -> None:
    found = DETECTOR(scuff.perturb(SENTENCES, perturbation, 0.5, seed=2))
    assert all(verdict.tampered for verdict in found)
    assert np.mean([max(verdict.kinds, key=lambda name: verdict.kinds[name]) == kind for verdict in found]) > 0.5


def test_fewer_false_alarms_need_a_higher_threshold() -> None:
    low, middle, high = (shipped().thresholds[rate] for rate in ("0.05", "0.01", "0.001"))
    assert 0 < low < middle < high < 1


def test_wrong_rate() -> None:
    with pytest.raises(ValueError, match=r"expected 0.001, 0.01, 0.05 for detector.false_alarms, got 0.2"):
        Detector(0.2)
    with pytest.raises(ValueError, match="got 'often'"):
        Detector("often")  # type: ignore[arg-type]


def test_the_weights_are_for_these_features() -> None:
    assert features(Corpus.of(["a text"])).shape == (1, len(shipped().names))
    assert shipped().weights.shape == (1 + len(KINDS_OF_TAMPERING), len(shipped().names))
    kinds = kinds_of_repairs()
    assert shipped().names[: len(kinds)] == tuple(f"log {kind}" for kind in kinds), "learn the weights anew"


@settings(max_examples=10)
@given(st.lists(st.text(max_size=20), max_size=4))
def test_any_text(texts: list[str]) -> None:
    together = DETECTOR.probabilities(texts)
    assert together.shape == (len(texts), 1 + len(KINDS_OF_TAMPERING))
    assert ((together >= 0) & (together <= 1)).all()
    alone = [DETECTOR.probabilities([text])[0] for text in texts]
    assert np.array_equal(together, np.array(alone).reshape(together.shape)), "a text does not depend on its neighbours"


def test_signs_at_the_end_are_inside_no_word() -> None:
    """A full stop has a letter on both sides if the next text is taken for the rest of its own."""
    texts = ["A fine film.", "'tis a fine film", "", "one more", "#film", "b.", ".c"]
    alone = [DETECTOR.probabilities([text])[0] for text in texts]
    assert np.array_equal(DETECTOR.probabilities(texts), np.array(alone))
