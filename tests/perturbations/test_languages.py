"""English-only perturbations warn on other languages, once, and never on English."""

from __future__ import annotations

import gzip
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import scuff
from scuff.cli.main import main
from scuff.perturbations import Facts, LanguageWarning
from scuff.perturbations.blocks import Tally
from scuff.perturbations.keyboard import Keyboard
from scuff.perturbations.names import NAMES
from scuff.perturbations.plan import Plan
from scuff.text.language import find_language

OTHERS = {
    "de": "Der Mann geht mit dem Hund über die Straße und das Kind ist nicht dabei, aber es wird auch kommen.",
    "fr": "Le chien de la voisine est dans le jardin et il ne veut pas rentrer avec nous pour manger.",
    "es": "El perro de la vecina está en el jardín y no quiere entrar con los otros para comer, pero es muy bueno.",
    "it": "Il cane della vicina è nel giardino e non vuole entrare con gli altri per mangiare, ma anche lui è buono.",
    "cs": "Pes je na zahradě a nechce jít domů, ale už je tma, takže se na něj všichni zlobí, že tam je, jako by byl sám.",
    "ru": "Собака соседки лежит в саду и не хочет идти домой вместе с нами.",
    "zh": "邻居的狗在花园里，不想和我们一起回家吃饭。",
    "ar": "الكلب في الحديقة ولا يريد أن يدخل البيت معنا",
    "hi": "पड़ोसी का कुत्ता बगीचे में है और वह हमारे साथ घर नहीं आना चाहता।",
    "el": "Ο σκύλος της γειτόνισσας είναι στον κήπο και δεν θέλει να μπει.",
    "ja": "となりの犬は庭にいて、わたしたちといっしょに家に入りたくない。",
}
ENDING = "expect few changes, or strange ones"
ENGLISH = [
    "omg lol u r sooo funny haha #yolo @dude ur killin me",
    "La La Land, El Niño and Der Spiegel: die Angela Merkel story",
    "Los Angeles Lakers vs. San Antonio Spurs, De La Hoya, Las Vegas, El Paso",
    "Rio de Janeiro, São Paulo",
    "The word 'und' is German and 'et' is French; der, die and das are articles.",
    "Привет!",
    "BREAKING: Dow Jones Industrial Average down 3% @ 10:30 EST",
    "",
]


@pytest.mark.slow
@pytest.mark.parametrize("code", OTHERS)
def test_other_languages_are_told(code: str) -> None:
    found = find_language([OTHERS[code]])
    assert found and code in found.codes and "en" not in found.codes
    for name in ("natural", "phonetic", "keyboard|natural", "truncate+phonetic"):
        with pytest.warns(LanguageWarning, match="made for English, but the texts (look|are written in)") as told:
            scuff.perturb([OTHERS[code]] * 3, name, 0.2)
        assert len(told) == 1 and "\n" not in str(told[0].message) and told[0].filename == __file__
    with pytest.warns(LanguageWarning):
        scuff.perturb_tokens([OTHERS[code].replace("，", " ").split()], "phonetic")


@pytest.mark.parametrize("text", ENGLISH)
def test_english_with_slang_names_and_quotations_is_not(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scuff.perturb(text, "natural")
        for code in OTHERS:
            scuff.perturb(OTHERS[code], "keyboard")  # made for any language


def test_no_false_alarm_on_any_english_text(shared: Path) -> None:
    for name in ("agnews", "davidson", "jigsaw", "mnli", "snli", "sst2", "wikitext", "ud_ewt"):
        with gzip.open(shared / "data" / name / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
            records = [json.loads(line) for _, line in zip(range(400), file, strict=False)]
        texts = [
            value if isinstance(value, str) else " ".join(value)
            for record in records for key, value in record.items()
            if key in ("text", "premise", "hypothesis", "tokens")
        ]  # fmt: skip
        for some in (texts, *([text] for text in texts)):
            found = find_language(some)
            assert found is None or found.codes == ("en",), (name, found, some[0][:100])


def test_whole_files_of_other_languages(shared: Path) -> None:
    for code in ("de", "fr", "cs"):
        with gzip.open(shared / "data" / f"multi30k_{code}_en" / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
            texts = [json.loads(line)["source"] for line in file]
        found = find_language(texts)
        assert found and found.codes == (code,)


def test_the_parts_that_know_only_english_say_so() -> None:
    bound = {name for name, kind in NAMES.items() if kind.facts.languages == ("en",)}
    assert bound == {"natural", "phonetic", "synonym", "contextual", "inflection", "syntax", "distraction"}


@dataclass(frozen=True)
class Umlauts(Keyboard):
    """A part of one's own for German."""

    name: ClassVar[str] = "umlauts"
    facts: ClassVar[Facts] = Facts(summary="for German", languages=("de",))


def test_own_parts_declare_their_languages_and_lists_have_any(tmp_path: Path) -> None:
    with pytest.warns(LanguageWarning, match="umlauts is made for German, but the texts look English"):
        scuff.perturb("This is the text that they have not read, but it is there.", Umlauts())
    (tmp_path / "de.tsv").write_text("nicht\tnich\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scuff.perturb(OTHERS["de"], Umlauts())
        scuff.perturb(OTHERS["de"], f"natural(errors={str(tmp_path / 'de.tsv')!r}, listed=True)")


@pytest.mark.slow
def test_every_command_tells_it_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("\n".join([OTHERS["de"]] * 4), encoding="utf-8")
    rows = "".join(f'"{OTHERS["de"]} {n}",{label}\n' for n, label in enumerate(("positive", "negative") * 4))
    (tmp_path / "a.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    text, table, out = str(tmp_path / "a.txt"), str(tmp_path / "a.csv"), str(tmp_path / "out")
    commands = {
        "natural is": ["perturb", text, "-p", "natural", "--copies", "3", "-o", f"{out}.txt"],
        "natural, phonetic are": ["zeroe", text, "-o", f"{out}-zeroe", "-p", "natural", "-p", "phonetic", "-p", "keyboard"],
        "phonetic is": ["augment", table, "--dimensions", "phonetic-g", "typo-g", "-o", f"{out}.csv"],
        "natural is ": ["evaluate", "toy:sentiment", table, "--dimensions", "natural", "typo-g", "--dry-run"],
        "natural  is": ["attack", "toy:sentiment", table, "--goal", "untargeted", "--perturbations", "natural", "--dry-run",
                        "--recipe", "tt-deepwordbug"],
    }  # fmt: skip
    for what, command in commands.items():
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            assert main([*command, "-q"]) == 0, command
        told = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
        assert told == [
            f"scuff: warning: {' '.join(what.split())} made for English, but the texts look German: {ENDING}"
        ], command


def test_a_layout_without_the_letters_of_the_texts_is_named() -> None:
    for spec, warned in (("keyboard", True), ("keyboard(layout='russian')", False)):
        plan, tally = Plan.of(spec, 0.5, 0, None, ()), Tally()
        plan.texts(["Это очень хороший фильм"], tally=tally)
        assert ("is on the layout qwerty" in plan.out_of_reach(tally)) is warned
