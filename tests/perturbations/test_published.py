"""--as-published: the table of what the papers have, and perturbations that behave so."""

from __future__ import annotations

import importlib.util
import json
from math import ceil, comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import scuff
from scuff.cli.main import main
from scuff.perturbations import (
    NAMES,
    PUBLISHED,
    ZEROE,
    Contextual,
    Keyboard,
    Plan,
    Synonym,
    Visual,
    as_published,
    parse,
)
from scuff.perturbations.published import published_selection
from scuff.resources import MissingResource
from scuff.specs import parse_call

ROOT = Path(__file__).parents[2]
SENTENCE = "adversarial attacks are harmless to all of the models that people know about today"
WORDS = SENTENCE.split()
TEXTS = [" ".join(WORDS)] * 300
IDS = list(range(300))


def changed(spec: str, level: float, selection: str | None) -> np.ndarray[Any, Any]:
    """Which words of the 300 texts changed."""
    new = Plan.of(spec, level, 0, selection, ()).texts(TEXTS, ids=IDS)
    return np.array([[a != b for a, b in zip(WORDS, text.split(), strict=True)] for text in new])


def test_the_table_has_every_perturbation_of_both_papers() -> None:
    from scuff.evaluation.dimensions import COLUMNS

    columns = {name if name.startswith("phonetic") else name.removesuffix("-m").removesuffix("-g") for name in COLUMNS}
    assert set(PUBLISHED) == {*ZEROE, *columns}
    for name, entry in PUBLISHED.items():
        own = parse(entry.spec)
        assert own.spec == entry.spec or set(parse_call(own.spec)[1].items()) == set(parse_call(entry.spec)[1].items())
        assert (
            bool(entry.differs) == (entry.spec not in NAMES or entry.spec != name.partition("-g")[0])
            or "phonetic-" in name
        )
        for _, spec in entry.elsewhere:
            assert parse(spec).name == own.name


def test_what_the_user_wrote_stays() -> None:
    assert as_published("visual(scope='text')") == "visual(at_least_one=False, scope='text')"
    assert as_published("natural(errors='my.tsv')") == "natural(listed=True, errors='my.tsv')"
    assert as_published(Keyboard(layout="azerty")) == Keyboard(layout="azerty", at_least_one=False)
    assert as_published(Visual(scope="words", phi=0.3)) == Visual(scope="words", phi=0.3, at_least_one=False)
    for name in NAMES:
        once = as_published(name)
        assert as_published(once) == once or name == "syntax"
        assert parse(once) == as_published(parse(name))


def test_combinations_and_others() -> None:
    assert as_published("visual|truncate+omit") == "visual(scope='words', at_least_one=False)|truncate(keep=2)+omit"
    assert as_published(parse("truncate+omit")) == parse("truncate(keep=2)+omit")
    assert as_published("phonetic", "phonetic-g") == "phonetic(slight=True)"
    assert as_published("syntax") == "paraphrase" and as_published(parse("syntax")) == parse("paraphrase")
    assert published_selection("visual|truncate") == "coin"
    assert published_selection("segment") is None and published_selection("visual+omit") is None
    assert published_selection("phonetic", "phonetic-g") is None
    with pytest.raises(ValueError, match="expected the name of a perturbation"):
        as_published("visuall")


@pytest.mark.parametrize("name", ["keyboard", "intrude(symbols='.')", "visual(scope='words')"])
def test_letters_of_a_word_change_each_by_itself(name: str) -> None:
    p = 0.2
    sure = changed(name, p, "all")
    spec = as_published(name)
    alone = changed(spec, p, "all").mean(0)
    places = np.array([len(word) - name.startswith("intrude") for word in WORDS])
    able = sure.all(0)
    expected = 1 - (1 - p) ** places  # a word stays if none of its places is hit
    assert np.abs(alone - expected)[able].max() < 0.1  # 300 texts: three standard deviations are 0.087
    assert able.sum() > 8 and alone[able].mean() < 0.8


def test_visual_is_doubly_parametrised() -> None:
    """A share p of the letters of a share p of the words, not of all characters."""
    for p in (0.2, 0.5, 0.8):
        rates = []
        for published in (False, True):
            new = scuff.perturb(TEXTS, "visual", p, ids=IDS, as_published=published)
            rates.append(np.mean([[a != b for a, b in zip(TEXTS[0], text, strict=True) if a != " "] for text in new]))
        assert abs(rates[0] - p) < 0.02
        n = len(WORDS)
        coins = [comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
        words = sum(chance * min(k, ceil(p * n)) for k, chance in enumerate(coins)) / n  # a coin each, up to the quota
        assert abs(rates[1] - words * p) < 0.02 and rates[1] < p * p


def test_phonetic_is_one_respelling_a_word() -> None:
    ours, theirs = (
        {word: {text.split()[at] for text in scuff.perturb(TEXTS, "phonetic", 1.0, ids=IDS, as_published=published)}
         for at, word in enumerate(WORDS)} for published in (False, True)
    )  # fmt: skip
    assert all(len(found) == 1 for found in theirs.values())
    assert any(len(found) > 2 for found in ours.values())
    assert theirs["attacks"] == {"atacks"}  # the first of the table, which is the likeliest
    assert scuff.perturb("Qxqzzyn", "phonetic", 1.0, as_published=True) == "Qxqzzyn"  # no lexicon has it


def test_phonetic_choice_is_checked() -> None:
    for spec in ("phonetic(choice='worst')", "phonetic(choice='best', phi=0.5)", "keyboard(phi=0, at_least_one=False)"):
        with pytest.raises(ValueError, match="expected"):
            parse(spec)
    assert parse("phonetic(choice='best')").for_characters() == parse("phonetic(choice='best')")


def test_natural_takes_the_list_alone(tmp_path: Path) -> None:
    path = tmp_path / "errors.tsv"
    path.write_text("attacks\tattaks\n", encoding="utf-8")
    new = scuff.perturb(TEXTS[0], f"natural(errors={str(path)!r})", 1.0, as_published=True)
    assert new == TEXTS[0].replace("attacks", "attaks")
    assert "harmless" in scuff.perturb(TEXTS[0], "natural", 1.0, as_published=True)  # not in the list that ships


def test_a_search_gets_one_letter_a_word_in_any_case() -> None:
    corpus = scuff.Corpus.of(TEXTS[:1])
    assert len(parse("keyboard(at_least_one=False)").proposals(corpus, 0.0)) == len(WORDS)


def test_selection_is_the_papers_unless_given() -> None:
    assert Plan.of("truncate", "mid", 0, None, (), as_published=True) == Plan.of(
        "truncate(keep=2)", "mid", 0, "coin", ()
    )
    assert Plan.of("truncate", "mid", 0, "quota", (), as_published=True).selection == "quota"
    tokens = scuff.perturb_tokens([WORDS] * 50, "visual", "high", ids=IDS[:50], as_published=True)
    assert tokens == scuff.perturb_tokens(
        [WORDS] * 50, "visual(scope='words', at_least_one=False)", "high", ids=IDS[:50], selection="coin"
    )


def test_loose_synonyms_of_a_file_are_those_of_any_part_of_speech(tmp_path: Path) -> None:
    path = tmp_path / "hownet.tsv"
    path.write_text("attacks\tn\tassaults raids\nattacks\tv\tcharges\n", encoding="utf-8")
    synonym = as_published(Synonym(source=str(path)))
    assert synonym == Synonym(source=str(path), loose=True)
    options = synonym.options(scuff.Corpus.of(["the attacks"]))  # type: ignore[attr-defined]
    assert options.texts.strings() == ["assaults", "raids", "charges"]


def test_contextual_needs_a_model_and_takes_no_encoder() -> None:
    with pytest.raises(MissingResource, match="mlm"):
        scuff.perturb("a text", "contextual", as_published=True)
    with pytest.raises(ValueError, match="no encoder"):
        Contextual(loose=True, encoder="minilm")


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "texts.csv"
    source.write_text("text\n" + "\n".join(TEXTS[:5]) + "\n", encoding="utf-8")
    out = tmp_path / "out.csv"
    assert main(["perturb", str(source), "-p", "visual", "-l", "high", "--as-published", "-o", str(out)]) == 0
    assert "visual(scope='words', at_least_one=False)|level:0.8|seed:0|selection:coin" in capsys.readouterr().err
    assert (
        main(["zeroe", str(source), "-o", str(tmp_path / "z"), "--as-published", "-p", "truncate", "-p", "segment"])
        == 0
    )
    manifest = json.loads((tmp_path / "z" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["attacks"] == {"truncate": "truncate(keep=2)", "segment": "segment"}
    signatures = {entry["attack"]: entry["signature"] for entry in manifest["files"] if entry["set"] == "attack"}
    assert "selection:coin" in signatures["truncate"] and "selection:default" in signatures["segment"]
    capsys.readouterr()
    assert main(["show", "-p", "truncate", "--as-published", "the attacks are harmless"]) == 0
    assert "truncate(keep=2): " in capsys.readouterr().out
    assert main(["describe", "visual"]) == 0
    assert "visual(scope='words', at_least_one=False), selection coin (Zéroe 3.2" in capsys.readouterr().out


def test_commands_keep_an_option_that_is_written_at_its_default(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, spec = tmp_path / "texts.txt", "visual(scope='text')"
    source.write_text("\n".join(TEXTS[:3]), encoding="utf-8")
    for more in ([], ["--only", "word:attacks"]):
        out = tmp_path / f"out{len(more)}.txt"
        assert main(["perturb", str(source), "-p", spec, "--as-published", "-o", str(out), *more]) == 0
        said = capsys.readouterr().err
        assert "visual(at_least_one=False)" in said and "selection:coin" in said
    assert main(["zeroe", str(source), "-o", str(tmp_path / "z"), "--as-published", "-p", spec]) == 0
    manifest = json.loads((tmp_path / "z" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["attacks"] == {"visual": "visual(at_least_one=False)"}
    capsys.readouterr()
    assert main(["show", "-p", spec, "--as-published", TEXTS[0]]) == 0
    assert "visual(at_least_one=False): " in capsys.readouterr().out


def test_syntax_as_published_says_whose_model_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The paper has a paraphraser in its place: neither a name that the user did not write nor one of ours twice."""
    for spec in ("syntax", "typo+syntax"):
        with pytest.raises(
            MissingResource, match=r"^syntax as published is a trained paraphraser, .*: paraphrase\(model="
        ):
            scuff.perturb("It was good.", spec, as_published=True)
    assert main(["show", "--as-published", "-p", "syntax", "-p", "contextual", "-p", "truncate", "a good film"]) == 0
    shown = capsys.readouterr().out
    assert "\nsyntax as published is a trained paraphraser" in shown and "\nparaphrase:" not in shown
    assert "or --mlm of evaluate, attack and augment" in shown and "low  " in shown


def test_the_switch_is_checked() -> None:
    with pytest.raises(ValueError, match=r"^expected True or False for as_published, got 'yes'$"):
        scuff.perturb("It was good.", "visual", as_published="yes")  # type: ignore[call-overload]


def test_the_page_has_the_table() -> None:
    path = ROOT / "build" / "published_page.py"
    spec = importlib.util.spec_from_file_location("published_page", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = (ROOT / "docs" / "published.md").read_text(encoding="utf-8")
    assert module.page(text) == text, "run build/published_page.py"
