"""The command line of `scuff judge`: from a run to tables, its flags, and its errors."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judging.raters import by_validity, three
from scuff.cli.main import main, parser

ROOT = Path(__file__).parents[2]


def test_from_a_run_to_a_weighed_evaluation(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kit, weights = tmp_path / "kit", tmp_path / "weights.json"
    assert main(["judge", "export", str(run), "-o", str(kit), "--study", "validity", "--each", "8", "--warning"]) == 0
    said = capsys.readouterr()
    assert said.out == "" and re.search(
        r"kit [a-z]{8} \(validity\): \d+ items, 10 controls, 10 to qualify raters", said.err
    )
    assert "keep" in said.err and re.search(r"fewer than asked for: segment at 0.1: \d\n", said.err)
    assert "Warning: The texts may be offensive" in (kit / "raters" / "instructions.txt").read_text()
    files = three(tmp_path, kit, by_validity)
    assert main(["judge", "import", str(kit / "key.json"), *files, "--encoder", "chrf", "--weights", str(weights)]) == 0
    assert "Valid cases" in capsys.readouterr().out
    command = [
        "evaluate",
        "toy:sentiment",
        "toy:sentiment",
        "--dimensions",
        "typo-m",
        "--degrees",
        "0.1",
        "0.3",
        "--examples",
        "10",
        "--cases",
        "2",
        "-q",
    ]
    assert main([*command, "-o", str(tmp_path / "run"), "--validity", str(weights)]) == 0
    assert "validity-weighted, by what raters found valid at each degree" in capsys.readouterr().out


def test_files_are_named_by_their_attacks(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    src = ["judge", "export", "--src", files["src"], "-q", "-o"]
    assert main([*src, str(tmp_path / "a"), "--adv-src", f"kNN={files['knn']}", "--adv-src", files["swaps"]]) == 0
    assert {'"attack": "kNN"', '"attack": "swaps"'} <= set(
        re.findall(r'"attack": "\w+"', (tmp_path / "a/key.json").read_text())
    )
    assert main([*src, str(tmp_path / "b"), "--adv-src", f"a={files['knn']}", "--adv-src", f"a={files['swaps']}"]) == 2
    assert "expected NAME=FILE, each name once, for --adv-src" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["export"], "the following arguments are required: -o/--output"),
        (["import"], "the following arguments are required: KEY, RATINGS"),
        (["exprot"], "invalid choice"),
        (["export", "RUN", "-o", "kit", "--studdy", "x"], "did you mean --study?"),
        (["export", "RUN", "-o", "kit", "--study", "taste"], "invalid choice: 'taste'"),
    ],
)
def test_wrong_words(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["judge", *words])
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert message in error and error.startswith("scuff judge") and error.count("\n") == 1


def test_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "export", str(tmp_path), "-o", str(tmp_path / "kit")]) == 2
    assert "expected a run folder with run.json, got none" in capsys.readouterr().err


def test_every_flag_stands_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    judge = parser("judge")._subparsers._group_actions[0].choices["judge"]
    flags = {
        flag
        for action in judge._subparsers._group_actions[0].choices.values()
        for flag in action._option_string_actions
    }
    assert len(flags) > 25
    assert {flag for flag in flags if not re.search(rf"`{re.escape(flag)}(?![\w-])", text)} <= {"-h", "--help"}
