"""Synonyms and neighbours in a vector space: right form, case and article; no opposites; files that people bring."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import scuff
from scuff.english.inflection import forms, lemma
from scuff.english.wordnet import antonyms
from scuff.perturbations import embedding
from scuff.perturbations.embedding import Embedding
from scuff.perturbations.replace import Replace
from scuff.perturbations.synonym import Synonym
from scuff.resources import MissingResource
from scuff.text.corpus import Corpus

pytest.importorskip("lemminflect")


WORDNET = Synonym(source="wordnet")


def choices(text: str, perturbation: Replace = WORDNET) -> dict[str, list[str]]:
    """What may stand for each word of a text that can change."""
    corpus = Corpus.of([text])
    options = perturbation.options(corpus)
    new, first = options.texts.strings(), options.first.tolist()
    words = corpus.cut(corpus.words).strings()
    return {word: new[a:b] for word, a, b in zip(words, first, first[1:], strict=False) if b > a}


@pytest.mark.parametrize(
    ("text", "word", "wanted"),
    [
        ("Yesterday we watched the whole match.", "watched", "viewed"),
        ("She is buying two cars.", "buying", "purchasing"),
        ("She is buying two cars.", "cars", "automobiles"),
        ("He purchases a house.", "purchases", "buys"),
        ("They have begun the work.", "begun", "started"),
        ("This film is boring.", "film", "movie"),
        ("It was an enormous success.", "enormous", "immense"),
        ("A bigger dog came.", "bigger", "larger"),
        ("The biggest dog came.", "biggest", "largest"),
        ("He rapidly left the room.", "rapidly", "quickly"),
        ("Two children played outside.", "children", "kids"),
    ],
)
def test_synonyms_have_the_form_of_the_word(text: str, word: str, wanted: str) -> None:
    assert wanted in choices(text).get(word, [])


def test_case_is_kept() -> None:
    assert choices("Films are an art form.")["Films"] == ["Movies", "Flicks"]
    assert choices("Many FILMS ARE BORING.")["FILMS"] == ["MOVIES", "FLICKS"]


def test_part_of_speech_decides() -> None:
    assert choices("He will change the plan.")["change"] == ["alter"]
    assert choices("The change was good.")["change"] == ["alteration", "modification"]


def test_grammar_words_numbers_and_names_stay() -> None:
    text = "She has been there and she did not have to do it for two or 15 days with Peter and London and them."
    assert set(choices(text)) <= {"days"}
    assert not choices("the of and or is are was been have has had do does did can must not n't very too")


def test_words_of_a_fixed_phrase_stay() -> None:
    assert "car" in choices("The car is red.") and "school" not in choices("She went to high school in new york.")


def test_words_that_their_neighbours_decide_stay() -> None:
    assert "await" in choices("They wait.")["wait"] and "wait" not in choices("They wait for you.")
    assert "kill" not in choices("They kill off the king.") and "film" not in choices("The film festival ends.")
    assert "made" not in choices("He made a mistake.")


def test_the_next_text_decides_nothing() -> None:
    """The last word is followed by a blank and a sign: a noun at the beginning of the next text makes no compound of it."""
    text, other = "It is a glorious failure .", "Films are long ."
    assert choices(text)["failure"]
    alone, together = WORDNET.options(Corpus.of([text])), WORDNET.options(Corpus.of([text, other]))
    assert together.count[: alone.count.size].tolist() == alone.count.tolist()


def test_the_article_stays_right() -> None:
    """an hour, a union, a one-way street: the sound decides, not the letter."""
    assert choices("It is the car.")["car"] == ["auto", "automobile"] and "car" not in choices("It is a car.")
    assert choices("It is a red car.")["car"] == ["auto", "automobile"], "only right behind the article"
    assert {"immense", "huge", "massive"} <= set(choices("It was the enormous house.")["enormous"])
    assert choices("It was an enormous house.")["enormous"] == ["immense"]


@pytest.mark.shared
def test_in_real_texts(shared: Path) -> None:
    """No opposites, no forms of the word itself, articles right, words as they were around."""
    with gzip.open(shared / "data/sst2/dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in lines][:150]
    checked = 0
    for text in texts:
        for word, found in choices(text).items():
            for new in found:
                checked += 1
                assert new.lower() != word.lower() and " " not in new
                for tag in ("NN", "VB", "JJ", "RB"):
                    assert new not in forms(word, tag) or lemma(new, tag) != lemma(word, tag)
                    assert lemma(new, tag) not in antonyms(lemma(word, tag)) or tag[0] not in "J"
    assert checked > 500


def test_no_listed_pair_is_opposed() -> None:
    words = (
        "good bad big small happy sad love hate rise fall increase decrease win lose friend enemy fast slow clean dirty"
    )
    for word in words.split():
        for found in (choices(f"It was the {word} one."), choices(f"They {word} it."), choices(f"We saw the {word}.")):
            assert not set(found.get(word, [])) & antonyms(word)


def test_phrases_only_where_wanted() -> None:
    phrases = Synonym(multiword=True)
    assert "motion picture" in choices("He saw the film.", phrases)["film"]
    assert "motion pictures" in choices("He saw two films.", phrases)["films"]
    assert not any(" " in new for found in choices("He saw two films.").values() for new in found)
    assert Synonym().facts.keeps_tokens and not phrases.facts.keeps_tokens
    with pytest.raises(ValueError, match="expected a perturbation that keeps each token"):
        scuff.perturb_tokens([["two", "films"]], phrases, 1)
    assert scuff.perturb_tokens([["He", "saw", "two", "films", "."]], "synonym", 1)[0][3] != "films"


def test_more_senses_and_less_likeness_give_more() -> None:
    told = "He told a story."
    few, usual, many = (choices(told, Synonym(senses=n, fit=f))["story"] for n, f in ((1, 0.65), (3, 0.65), (9, 0)))
    assert set(few) <= set(usual) < set(many) and "floor" in many and "floor" not in usual


def test_a_file_in_place_of_wordnet(tmp_path: Path) -> None:
    path = tmp_path / "hownet.tsv"
    path.write_text(
        "watch\tv\tbehold eye\n\nfilm\tn\tflick motion_picture\nfilm\tn\tpicture\nbig\ta\tsmall grand\n",
        encoding="utf-8",
    )
    perturbation = Synonym(source=str(path))
    found = choices("We watched two big films.", perturbation)
    assert found["watched"] == ["beheld", "eyed"] and found["films"] == ["flicks", "pictures"]
    assert found["big"] == ["grand"], "no opposites from a file either"
    assert "motion pictures" in choices("two films", Synonym(source=str(path), multiword=True))["films"]
    assert scuff.parse(perturbation.spec) == perturbation


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"film n movie\n", "line 1: expected word<TAB>n, v, a or r<TAB>synonyms"),
        (b"film\tn\tmovie\nfilm\tnoun\tmovie\n", "line 2: expected word<TAB>n, v, a or r<TAB>synonyms"),
        (b"\n", "lines, got none"),
        (b"film\tn\tmovi\xe9\n", "expected UTF-8"),
    ],
)
def test_broken_files_of_synonyms(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.tsv").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        scuff.perturb("a film", Synonym(source=str(tmp_path / "bad.tsv")))


def test_missing_files() -> None:
    with pytest.raises(FileNotFoundError, match=r"expected scuff, wordnet or a file of synonyms for synonym\.source"):
        scuff.perturb("a film", Synonym(source="nowhere.tsv"))
    with pytest.raises(FileNotFoundError, match=r"expected word vectors or neighbours for embedding\.file"):
        scuff.perturb("a film", Embedding(file="nowhere.tsv"))
    with pytest.raises(MissingResource, match="embedding needs word vectors or lists of neighbours"):
        scuff.perturb("a film", "embedding")


@pytest.mark.parametrize(
    "spec",
    [
        "synonym(fit=3)", "synonym(fit='x')", "synonym(senses=0)", "synonym(source='')", "synonym(multiword=1)",
        "embedding(file='')", "embedding(file=3)", "embedding(cosine=2)", "embedding(cosine='x')", "embedding(neighbours=0)",
    ],
)  # fmt: skip
def test_wrong_options(spec: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        scuff.parse(spec)


NEAR = "film\tmovie films Movie flick cinema 's new_film\nwatched\tviewed watching viewed hated\nhorror\tterror\n"


@pytest.mark.parametrize("packed", [False, True])
def test_lists_of_neighbours(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / "near.tsv"
    path.write_bytes(gzip.compress(NEAR.encode()) if packed else NEAR.encode())
    found = choices("He watched a Film.", Embedding(file=str(path)))
    assert found == {"watched": ["viewed", "hated"], "Film": ["Movie", "Flick", "Cinema"]}
    assert choices("He watched a film.", Embedding(file=str(path), neighbours=1)) == {
        "watched": ["viewed"],
        "film": ["movie"],
    }
    anything = choices("He watched a film.", Embedding(file=str(path), tagger=False))
    assert anything["film"] == ["movie", "films", "flick", "cinema"], "no underscores, nothing without letters"
    with pytest.raises(ValueError, match=r"expected a file of vectors for embedding\.cosine"):
        choices("a film", Embedding(file=str(path), cosine=0.5))


def test_every_word_without_a_tagger(tmp_path: Path) -> None:
    """What a search attack chooses from: names, grammar words and all, even what stands beside; the search has its own rules."""
    path = tmp_path / "near.tsv"
    path.write_text(
        "i\tme u\nthe\tthis a\ne-mail\tletter\ndon't\tdidn't\n2nd\tthird\nmovie\tfilm Film\n", encoding="utf-8"
    )
    found = choices("I don't e-mail THE 2nd Movie film", Embedding(file=str(path), tagger=False))
    assert found == {
        "I": ["Me", "U"], "don't": ["didn't"], "e-mail": ["letter"], "THE": ["THIS", "A"], "2nd": ["third"], "Movie": ["Film"],
    }  # fmt: skip


def test_a_short_name_for_the_number_of_neighbours() -> None:
    perturbation = scuff.parse("embedding(n=50)")
    assert perturbation == Embedding(neighbours=50) and perturbation.spec == "embedding(neighbours=50)"
    with pytest.raises(ValueError, match=r"for embedding\.neighbours, got 0"):
        scuff.parse("embedding(n=0)")


def test_as_many_proposals_as_there_are_options(tmp_path: Path) -> None:
    path = tmp_path / "near.tsv"
    path.write_text(f"film\t{' '.join(f'w{chr(97 + at)}' for at in range(26))}\n", encoding="utf-8")
    text = "We watched two films, a big Film and a FILM."
    for perturbation in (Embedding(file=str(path), neighbours=26, tagger=False), Synonym(), Synonym(fit=0, senses=99)):
        corpus = Corpus.of([text])
        edits = perturbation.proposals(corpus, 0, k=1000)
        found: dict[str, list[str]] = {}
        for old, new in zip(corpus.cut(edits.spans(corpus.offsets)).strings(), edits.text.strings(), strict=True):
            found.setdefault(old, []).append(new)
        wanted = choices(text, perturbation)
        assert {word: sorted(new) for word, new in found.items()} == {word: sorted(new) for word, new in wanted.items()}
        assert all(len(set(new)) == len(new) and word not in new for word, new in found.items())
        assert len(perturbation.proposals(corpus, 0, k=2)) == sum(min(2, len(new)) for new in wanted.values()) > 0


SPACE = {
    "film": (1.0, 0.0, 0.0), "movie": (0.9, 0.1, 0.0), "flick": (0.8, 0.3, 0.0), "Film": (1.0, 0.01, 0.0), "car": (0.0, 0.0, 2.0),
    "auto": (0.0, 0.1, 1.9), "nothing": (0.0, 0.0, 0.0), "picture": (0.5, 0.5, 0.0), "of course": (0.0, 0.0, 1.0),
}  # fmt: skip


@pytest.fixture(params=["plain", "header", "gzip"])
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    text = "".join(f"{word} {' '.join(map(str, numbers))}\n" for word, numbers in SPACE.items())
    text = f"{len(SPACE)} 3\n{text}" if request.param == "header" else text
    path = tmp_path / "vectors.txt"
    path.write_bytes(gzip.compress(text.encode()) if request.param == "gzip" else text.encode())
    return path


def test_vectors(vectors: Path) -> None:
    assert choices("The film and the car.", Embedding(file=str(vectors), neighbours=2)) == {
        "film": ["movie", "flick"], "car": ["auto"],
    }  # fmt: skip
    close = choices("The film and the car.", Embedding(file=str(vectors), cosine=0.99))
    assert close == {"film": ["movie"], "car": ["auto"]}
    assert choices("The FILM.", Embedding(file=str(vectors), cosine=0.9)) == {"FILM": ["MOVIE", "FLICK"]}
    all_words = choices("nothing car", Embedding(file=str(vectors), neighbours=9, tagger=False))
    assert set(all_words) == {"car"} and "nothing" not in all_words["car"]  # a vector of zeros is none


def test_nearest_words_are_those_of_a_full_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    words = ["w" + "".join(map(chr, row)) for row in draw.integers(97, 123, (400, 6)).tolist()]
    numbers = draw.normal(size=(400, 5)).round(4)
    path = tmp_path / "v.txt"
    path.write_text("\n".join(f"{w} {' '.join(map(str, n))}" for w, n in zip(words, numbers.tolist(), strict=True)))
    unit = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    near = np.argsort(-(unit @ unit.T), axis=1)[:, 1:8].tolist()
    for block in (1, 1000, 1 << 24):
        monkeypatch.setattr(embedding, "BLOCK", block)
        space = embedding.read_space(path, float(block))
        found = space.nearest(words, 7, None)
        assert found == [[words[at] for at in row] for row in near]
        assert space.nearest(words[5:7], 7, 2.0) == [[], []]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "got an empty line first"),
        (b"film 1 2\nmovie 1\n", "expected a word and 2 numbers in each line, got 'movie 1'"),
        (b"film 1 2\nmovie 1 x\n", "expected a word and 2 numbers in each line, got 'movie 1 x'"),
        (b"film 1 2\nmovie 1 nan\n", "expected finite numbers, got others for 'movie'"),
        (b"film 0 0\nmovie 0 0\n", "expected vectors, got only zeros"),
        (b"film\n", "expected lines of a word and numbers, got none"),
        (b"2 3\n", "expected lines of a word and numbers, got none"),
        (b"film\tmovie\nmovie film\n", "line 2: expected word<TAB>neighbour neighbour"),
        (b"film 1 2\nmovi\xe9 1 2\n", "expected UTF-8"),
        (gzip.compress(b"film\tmovie\n" * 2000, mtime=0)[:-20], "expected a whole gzip file"),
    ],
)
def test_broken_files_of_neighbours(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "bad.txt").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        scuff.perturb("a film", Embedding(file=str(tmp_path / "bad.txt")))


@pytest.mark.shared
def test_counter_fitted_neighbours(shared: Path) -> None:
    perturbation = Embedding(file=str(shared / "data/counterfitted/neighbours.tsv.gz"))
    found = choices("Adversarial attacks are harmless.", perturbation)
    assert "assaults" in found["attacks"]
    assert "terrific" in choices("A really wonderful evening.", perturbation)["wonderful"]


@pytest.mark.parametrize(
    "perturbation", [Synonym(), Synonym(multiword=True), Synonym(fit=0, senses=9)], ids=lambda a: a.spec
)
@pytest.mark.filterwarnings("ignore:.*out of reach")
def test_odd_texts(perturbation: Synonym) -> None:
    texts = [
        "", " ", "👩‍👩‍👧‍👦👍🏽", "שלום עולם", "e\u0301te\u0301 film", "film\x00\x07film", "a\u200bfilm", "film " * 2000, "’s n't",
        "Film's end", "don't", "1980s 4th", "\u2028film\u2029", "ＦＩＬＭ", "ﬁlm", "ß", "İ",
    ]  # fmt: skip
    new = scuff.perturb(texts, perturbation, 1)
    assert len(new) == len(texts) and new[:4] == texts[:4] and all("\ufffd" not in text for text in new)
