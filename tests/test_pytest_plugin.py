"""The pytest plugin: real sessions of pytest in a process of their own, alone and with xdist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from plugin_site import plugin_site

TESTS = """
import pytest

TOY = "toy:sentiment"
SMALL = {"dimensions": ["keyboard"], "degrees": [0.3], "examples": 20, "cases": 1}
pytestmark = pytest.mark.robustness(data=TOY, examples=5)


@pytest.mark.robustness(TOY, min={"average": 0.1}, **SMALL)
def test_holds(robustness):
    result = robustness()
    assert result.summary["clean"]["examples"] == 20 and robustness.results == [result]


@pytest.mark.robustness(TOY, min={"average": 1}, **SMALL)
def test_breaks(robustness):
    robustness()


@pytest.mark.robustness(TOY, min={"average": 1}, **SMALL)
def test_the_call_wins(robustness):
    assert robustness(min={"average": "10%"}, examples=6).summary["clean"]["examples"] == 6


@pytest.mark.parametrize("most", [1, 0.05], ids=["much", "little: 5/100"])
def test_attack(robustness, most):
    robustness(TOY, recipe="deepwordbug", encoder="chrf", max_success=most, examples=12)


def test_two_runs(robustness):
    for seed in (1, 2):
        robustness(lambda texts: ["positive"] * len(texts), min={"clean": 0.1, "tried": 0}, seed=seed, **SMALL)


def test_nothing_is_measured(robustness):
    pass


def test_skips(robustness):
    pytest.skip("for a reason")


def test_a_mistake(robustness):
    robustness(TOY, min={"keybord": 0.5})


def test_no_model(robustness):
    robustness(min={"average": 0.5})
"""
OUTCOMES = {
    "test_holds": "passed", "test_breaks": "failed", "test_the_call_wins": "passed", "test_attack[much]": "passed",
    "test_attack[little: 5/100]": "failed", "test_two_runs": "passed", "test_nothing_is_measured": "failed",
    "test_skips": "skipped", "test_a_mistake": "failed", "test_no_model": "failed",
}  # fmt: skip


def session(folder: Path, *arguments: str, autoload: bool = False, tests: str = TESTS) -> tuple[int, str]:
    """Runs pytest on the tests in a folder. Returns its exit code and what it prints."""
    (folder / "test_model.py").write_text(tests, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n", encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    plugins = [] if autoload else ["-p", "scuff.pytest_plugin"]
    if not autoload:
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-vv", *plugins, *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def outcomes(shown: str) -> dict[str, str]:
    """The outcome of each test, from the lines of -v."""
    found = re.findall(r"^(?:\[gw\d\].*?)?test_model\.py::(.+?) (PASSED|FAILED|ERROR|SKIPPED)", shown, re.MULTILINE)
    found += [
        pair[::-1] for pair in re.findall(r"^\[gw\d\].*?(PASSED|FAILED|SKIPPED) test_model\.py::(.+?) *$", shown, re.M)
    ]
    return {name: outcome.lower() for name, outcome in found}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("suite")
    code, shown = session(folder, "-rA", "--scuff-runs", "kept/runs")
    assert code == 1, shown
    return folder, shown


def section(shown: str, test: str) -> str:
    """What pytest shows of one test."""
    return re.split(r"\n_{3,} \S.*?_{3,}\n|\n={3,} ", shown.partition(f"_ {test} _")[2])[0]


def test_outcomes(whole: tuple[Path, str]) -> None:
    assert outcomes(whole[1]) == OUTCOMES


def test_a_failure_says_the_verdict_and_what_broke(whole: tuple[Path, str]) -> None:
    folder, shown = whole
    told = section(shown, "test_breaks")
    assert re.search(
        r"^the model is less robust than asked:\nFAIL average: \d+\.\d, at least 100\.0$", told, re.MULTILINE
    )
    assert "Right on 19 of 20 clean texts" in told and re.search(r"^Weakest: typing slips", told, re.MULTILINE)
    assert re.search(r"^broken texts:\n  keyboard@0\.3: \w+ .*\[-\w+-\]\{\+\w+\+\}", told, re.MULTILINE)
    assert "final average" in told and "Traceback" not in told and "api.py" not in told, "no code of ours"
    report = re.search(r"^report: (.+)$", told, re.MULTILINE)
    assert report and Path(report[1]).is_file() and Path(report[1]).is_relative_to(folder / "kept" / "runs")
    attack = section(shown, "test_attack[little: 5/100]")
    assert re.search(r"^FAIL success: \d+\.\d, at most 5\.0$", attack, re.MULTILINE) and "after deepwordbug" in attack


def test_mistakes_are_told(whole: tuple[Path, str]) -> None:
    assert "expected the name of a score (clean, average, worst, each, a dimension), got 'keybord'" in whole[1]
    assert "expected a model and data for robustness(), got no model" in section(whole[1], "test_no_model")
    assert "expected a call of robustness() in a test with its marker, got none: nothing was measured" in whole[1]


def test_runs_are_kept(whole: tuple[Path, str]) -> None:
    runs = sorted(path.name for path in (whole[0] / "kept" / "runs").iterdir())
    assert all((whole[0] / "kept" / "runs" / name / "report.html").is_file() for name in runs)
    names = [re.sub(r"-[0-9a-f]{8}(?=$|-2$)", "", name) for name in runs]
    assert names == [
        "test_model.py-test_attack-little-5-100", "test_model.py-test_attack-much", "test_model.py-test_breaks",
        "test_model.py-test_holds", "test_model.py-test_the_call_wins", "test_model.py-test_two_runs",
        "test_model.py-test_two_runs-2",
    ]  # fmt: skip


@pytest.mark.slow
def test_a_model_that_changed_is_measured_again(tmp_path: Path) -> None:
    tests = (
        "from pathlib import Path\ndef model(texts):\n    return [Path('answer').read_text()] * len(texts)\n"
        "def test(robustness):\n"
        "    data = [('a good day', 'good'), ('a bad day', 'good')]\n"
        "    robustness(model, data, min={'clean': 1}, dimensions=['truncate'], degrees=[0.5], cases=1, "
        "labels=['good', 'bad'])\n"
    )
    (tmp_path / "answer").write_text("good")
    assert session(tmp_path, "--scuff-runs", "runs", tests=tests)[0] == 0
    (tmp_path / "answer").write_text("bad")
    code, shown = session(tmp_path, "--scuff-runs", "runs", tests=tests)
    assert code == 1 and "FAIL clean: 0.0, at least 100.0" in shown
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_marker_needs_the_fixture(tmp_path: Path) -> None:
    tests = "import pytest\n@pytest.mark.robustness('m', 'd')\ndef test():\n    pass\n"
    code, shown = session(tmp_path, tests=tests)
    assert code == 4 and "test_model.py::test: expected the fixture robustness in a test with its marker" in shown


@pytest.mark.slow
def test_with_xdist_and_the_entry_point(tmp_path: Path) -> None:
    """As installed: pytest finds the plugin by itself, in the main process and in its workers."""
    pytest.importorskip("xdist")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in plugin_site(tmp_path).items():
            patch.setenv(name, value)
        code, shown = session(tmp_path, "-rA", "-n", "2", "--scuff-runs", "runs", autoload=True)
    assert code == 1 and outcomes(shown) == OUTCOMES, shown
    assert len(list((tmp_path / "runs").iterdir())) == 7
