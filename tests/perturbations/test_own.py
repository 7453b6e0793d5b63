"""A user's own perturbation: by object, by spec, in combinations, from a module and from a file. tests/contracts has the rest."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

import scuff
from contracts import own
from contracts.own import EchoWord, Shout
from scuff.perturbations import Facts, Keyboard, OneOf, Perturbation, Then, WordPerturbation, parse

TEXT = "the quick brown fox"


def test_an_object_a_spec_and_a_combination() -> None:
    assert scuff.perturb([TEXT], Shout(), 1) == ["THE QUICK BROWN FOX"]
    assert scuff.perturb([TEXT], "contracts.own:Shout(loud=True)", 1) == ["THE! QUICK! BROWN! FOX!"]
    assert scuff.perturb(TEXT, EchoWord(), 1) == "the the quick quick brown brown fox fox"
    assert scuff.perturb(TEXT, "contracts.own:Shout + truncate", 1) == "THE QUIC BROW FOX"
    either = parse("keyboard|contracts.own:Shout")
    assert either == OneOf((Keyboard(), Shout()))
    seen = {scuff.perturb("fox", either, 1, seed=seed) for seed in range(40)}
    assert "FOX" in seen and len(seen) > 2
    assert scuff.perturb_tokens([["a", "fox"]], Shout(), 1) == [["A", "FOX"]]
    assert Shout()(scuff.Corpus.of([TEXT]), 0.5).strings()[0].islower() is False


@pytest.mark.parametrize(
    "part",
    [Shout(), Shout(loud=True), EchoWord(), OneOf((Keyboard(phi=0.2), Shout(loud=True))), Then((EchoWord(), Shout()))],
    ids=lambda part: part.spec,
)
def test_a_spec_builds_an_equal_one_again(part: Perturbation) -> None:
    assert parse(part.spec) == part and hash(parse(part.spec)) == hash(part)
    assert parse(part) is part


def test_specs_and_names() -> None:
    assert Shout(loud=True).spec == "contracts.own:Shout(loud=True)" and EchoWord().spec == "contracts.own:EchoWord"
    assert (Shout.name, EchoWord.name) == ("shout", "echo-word")
    assert Shout() != Shout(loud=True) and EchoWord() == EchoWord() and EchoWord() != Shout()


def test_what_a_class_does_not_say_has_a_default() -> None:
    assert Shout.facts == Facts("Write words in capitals.")
    assert EchoWord.facts == Facts("echo-word", keeps_tokens=False)
    assert Facts("x").paper == Facts("x").example == ""
    with pytest.raises(ValueError, match=r"expected a perturbation that keeps each token, got contracts.own:EchoWord"):
        scuff.perturb_tokens([["a", "fox"]], EchoWord(), 1)

    @dataclass(frozen=True)
    class Louder(Shout):
        """Shout more."""

        name: ClassVar[str] = "very-loud"
        shift: int = 0
        word: str = ""

    assert Louder.name == "very-loud" and Louder.facts == Facts("Shout more.")
    assert Louder(shift=-3).shift == -3
    with pytest.raises(ValueError, match=r"expected a whole number for very-loud.shift, got 0.5"):
        Louder(shift=0.5)  # type: ignore[arg-type]


def test_options_are_checked_by_their_defaults() -> None:
    with pytest.raises(ValueError, match=r"expected True or False for shout.loud, got 1"):
        Shout(loud=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"expected loud for contracts.own:Shout, got 'lowd'"):
        parse("contracts.own:Shout(lowd=True)")
    with pytest.raises(ValueError, match=r"expected no option for contracts.own:EchoWord, got 'loud'"):
        parse("contracts.own:EchoWord(loud=True)")
    with pytest.raises(TypeError, match=r"got the class Shout itself: add \(\)"):
        scuff.perturb(TEXT, Shout)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match=r"contracts.own: expected 'Whisper' in it"):
        parse("contracts.own:Whisper")
    with pytest.raises(ValueError, match=r"expected a perturbation \(Perturbation\) from contracts.own:Ragged"):
        parse("contracts.own:Ragged(codes=1, offsets=2)")
    with pytest.raises(TypeError, match="abstract"):
        WordPerturbation()  # type: ignore[abstract]


def test_a_file(tmp_path: Path) -> None:
    """As a module of its own: two parts of one spec are equal, a changed file is read again, names do not clash."""
    file = tmp_path / "own.py"
    shutil.copy(own.__file__, file)
    part = parse(f"{file}:Shout(loud=True)")
    assert part.spec == f"{file}:Shout(loud=True)" and parse(part.spec) == part != Shout(loud=True)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "own.py"
    other.write_text(file.read_text().replace('"!"', '"?"'))
    second = parse(f"{other}:Shout(loud=True)")
    assert [scuff.perturb("fox", each, 1) for each in (part, second)] == ["FOX!", "FOX?"]
    assert [each.spec.split(":")[0] for each in (part, second)] == [str(file), str(other)]
    file.write_text(file.read_text().replace('"!"', '"!!"'))
    assert scuff.perturb("fox", f"{file}:Shout(loud=True)", 1) == "FOX!!"


def test_the_command_line_finds_what_lies_in_its_folder(tmp_path: Path) -> None:
    shutil.copy(own.__file__, tmp_path / "my_parts.py")
    command = [sys.executable, "-m", "scuff", "perturb", "-", "-l", "1", "-q", "-a"]
    for spec in ("my_parts:Shout(loud=True)", "my_parts.py:Shout(loud=True)"):
        done = subprocess.run(
            [*command, spec], cwd=tmp_path, input="a fox\n", capture_output=True, text=True, check=True
        )
        assert done.stdout == "A! FOX!\n"
