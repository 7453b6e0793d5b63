"""Scuff's own list of synonyms: neighbours decide; names, phrases and compounds stay; who asks for much is told."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import scuff
from scuff.cli.main import main
from scuff.english.inflection import inflected, lemma
from scuff.english.thesaurus import CLASSES, LIMITS, SECTIONS, _lists
from scuff.huggingface.encoder import find_encoder
from scuff.perturbations.synonym import Synonym
from scuff.resources import load
from scuff.text.corpus import Corpus

pytest.importorskip("lemminflect")


def choices(text: str, perturbation: Synonym | None = None) -> dict[str, list[str]]:
    """What may stand for each word of a text that can change."""
    corpus = Corpus.of([text])
    options = (perturbation or Synonym()).options(corpus)
    new, first = options.texts.strings(), options.first.tolist()
    words = corpus.cut(corpus.words).strings()
    return {word: new[a:b] for word, a, b in zip(words, first, first[1:], strict=False) if b > a}


# ---- the list ----


def lines() -> list[tuple[str, str, str]]:
    """Part of speech, word and the rest of each line."""
    found, part = [], ""
    for line in load("synonyms.txt").decode().splitlines():
        if line in SECTIONS:
            part = SECTIONS[line]
        elif not line.startswith("#"):
            word, _, others = line.partition(": ")
            found.append((part, word, others))
    return found


def test_the_list_is_in_order_and_has_only_known_conditions() -> None:
    listed = lines()
    assert len(listed) == len(_lists()) > 2700, "no word twice"
    for part, word, others in listed:
        assert (word.isalpha() if part else word.replace("'", "").isalpha()) and others, word
        for other in others.split():
            new, _, conditions = other.partition("/")
            assert new.replace("'", "").isalpha() and new.lower() != word, (word, other)
            for condition in conditions.split(",") if conditions else []:
                assert condition in CLASSES | LIMITS or (condition[0] in "+-<>" and len(condition) > 1), (
                    word,
                    condition,
                )
    for section in SECTIONS.values():
        words = [word for part, word, _ in listed if part == section]
        assert words == sorted(words)


def test_words_of_the_list_are_lemmas() -> None:
    tags = {"n": "NN", "v": "VB", "a": "JJ", "r": "RB"}
    assert not [word for part, word, _ in lines() if part and lemma(word, tags[part]) != word]
    verbs = {new.partition("/")[0] for part, _, others in lines() if part == "v" for new in others.split()}
    assert all(inflected(verb, "VBD") and inflected(verb, "VBG") for verb in verbs)


# ---- what stands beside a word ----


@pytest.mark.parametrize(
    ("text", "word", "wanted"),
    [
        ("They said that it rains.", "said", ["stated"]),
        ("They said on Monday it rains.", "said", ["stated"]),
        ("They said nothing.", "said", None),
        ("She is trying to sleep.", "trying", ["attempting"]),
        ("He tried the soup.", "tried", None),
        ("Prices fell 3 percent.", "fell", ["dropped", "declined"]),
        ("The boy fell asleep.", "fell", None),
        ("The book was purchased in May.", "purchased", ["bought"]),
        ("She is buying two cars.", "buying", ["purchasing"]),
        ("She is buying two cars.", "cars", ["automobiles"]),
        ("They were allowed to stay.", "allowed", ["permitted"]),
        ("It appears calm.", "appears", ["seems", "looks"]),
        ("It appears in May.", "appears", None),
        ("We left the entire village.", "entire", ["whole"]),
        ("He met a rich man.", "rich", ["wealthy"]),
        ("The soil is rich.", "rich", None),
        ("Troops left.", "Troops", ["Soldiers"]),
        ("A wide range of things.", "wide", ["broad"]),
        ("A wide receiver.", "wide", None),
        ("It was large in scale.", "large", None),
        ("A large dog barks.", "large", ["big"]),
        ("It costs about 50 dollars.", "about", ["around", "roughly", "approximately"]),
        ("They talk about it.", "about", None),
        ("He saw fruit, for example, and tea.", "example", ["instance"]),
        ("A good example helps.", "example", None),
        ("Many people came.", "Many", ["Numerous"]),
        ("So many people came.", "many", None),
        ("Everyone came.", "Everyone", ["Everybody"]),
        ("The car that won is red.", "that", ["which"]),
        ("The woman that won is here.", "that", None),
        ("He thinks that it rains.", "that", None),
        ("A man who sings came.", "who", ["that"]),
        ("A town, which burned, is here.", "which", None),
        ("It may rain.", "may", ["might"]),
        ("It came in May.", "May", None),
        ("He left because he was tired.", "because", ["since", "as"]),
        ("He left because of rain.", "because", None),
        ("We have to leave.", "have", ["need"]),
        ("We have two dogs.", "have", None),
        ("It is based on facts.", "on", ["upon"]),
        ("It is on fire.", "on", None),
        ("However, it rained.", "However", ["Nevertheless", "Nonetheless"]),
        ("It is much better.", "much", ["far"]),
        ("How much is it?", "much", None),
        ("He then went home.", "then", ["subsequently"]),
        ("If so, then leave.", "then", None),
        ("I can't swim.", "can't", ["cannot"]),
        ("They use the road.", "use", ["utilize"]),
        ("The accused named the proposed law.", "proposed", None),
    ],
)
def test_neighbours_decide(text: str, word: str, wanted: list[str] | None) -> None:
    assert choices(text).get(word) == wanted


def test_replacements_that_were_complained_of_are_gone() -> None:
    texts = [
        "The troops marched.",
        "Shares fell on Monday.",
        "She said it was late.",
        "Two men watched the film festival.",
    ]
    new = {word for text in texts for found in choices(text).values() for word in found}
    assert not new & {"flocks", "percentages", "told", "servicemen", "movie"} and "soldiers" in new


def test_names_titles_and_compounds_stay() -> None:
    assert "Company" not in choices("We met at the Company Store in town.")
    assert choices("He read the Big Film today.") == {}, "a title"
    assert choices("The FILM was long.") == {} and choices("The film was long.") == {"film": ["movie"]}
    assert choices("MANY FILMS ARE LONG.")["FILMS"] == ["MOVIES"], "a text in capitals is no name"
    assert "film" not in choices("The film festival ends.") and "company" in choices("The software company grew.")


def test_form_article_and_repetition() -> None:
    assert choices("It is a person.") == {} and choices("It is this person.") == {"person": ["individual"]}
    assert choices("The movie, or film, ended.") == {}, "not what stands nearby already"
    assert choices("Bigger and larger dogs.").get("larger") is None
    assert choices("The larger dog barks.")["larger"] == ["bigger"]


def test_past_tense_is_told_from_the_participle() -> None:
    """talked is both, spoke and spoken are not: only where the words in front leave no doubt."""
    assert choices("They talked about it.")["talked"] == ["spoke"]
    assert choices("They have talked about it.")["talked"] == ["spoken"]
    assert "talked" not in choices("Two moments, still talked about today.")


def test_wordnet_by_option() -> None:
    """Who names WordNet's own options gets WordNet, as before there was a list."""
    text = "He told a story about the house of the troops."
    old = choices(text, Synonym(source="wordnet"))
    assert old == choices(text, Synonym(senses=5, fit=0.3)) == choices(text, Synonym(fit=0.3)) != choices(text)
    assert "flocks" in old["troops"]
    assert Synonym().net is False and Synonym(multiword=True).net and Synonym(senses=9).net
    assert scuff.parse("synonym(source='wordnet')").facts.reach > scuff.parse("synonym").facts.reach


# ---- strengths out of reach ----

TEXTS = [
    "This film is about a man who sells fish in a small harbour and about the people who buy it there every day."
] * 40


def test_who_asks_for_much_is_told() -> None:
    with pytest.warns(
        UserWarning, match=r"^synonym changed \d+\.\d% of the words: level 0\.5 is out of reach, it can .* 8%"
    ):
        scuff.perturb(TEXTS, "synonym", 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scuff.perturb(TEXTS[:2], "synonym", 0.5)  # too few words to tell
        scuff.perturb(TEXTS, "synonym", 0.02)
        scuff.perturb(TEXTS, "synonym|typo", 0.5)
        scuff.perturb(TEXTS, "typo", 1)


def test_the_command_line_tells_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(TEXTS), encoding="utf-8")
    assert main(["perturb", str(file), "-p", "synonym", "-l", "0.5", "-o", str(file) + ".out"]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning:")]
    assert len(told) == 1 and "level 0.5 is out of reach" in told[0]
    assert main(["describe", "synonym"]) == 0
    assert "about 8% of them in a usual text" in capsys.readouterr().out


# ---- the encoder ----


@pytest.mark.slow
@pytest.mark.skipif(find_encoder() is None, reason="needs scuff[meaning]")
def test_an_encoder_chooses_by_context_whatever_the_batch() -> None:
    pytest.importorskip("transformers")
    texts = ["Hed's second album sold well.", "Troops left the city.", "The 1st Battalion ordered the company to withdraw.",
             "The company sells software to banks."]  # fmt: skip
    strict, none = Synonym(encoder="minilm", floor=0.7), Synonym(encoder="minilm", floor=1)
    assert all(choices(text, none) == {} for text in texts)
    together = strict.options(Corpus.of(texts))
    alone = [strict.options(Corpus.of([text])) for text in texts]
    assert together.texts.strings() == [new for each in alone for new in each.texts.strings()]
    assert np.array_equal(together.count, np.concatenate([each.count for each in alone]))
    kept, all_of_them = choices(texts[3], strict), choices(texts[3])
    assert all(set(new) <= set(all_of_them[word]) for word, new in kept.items())
    with pytest.raises(ValueError, match=r"synonym\.floor"):
        Synonym(floor=2)
