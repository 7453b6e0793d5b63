"""`scuff harden` and `scuff demo --harden` as a user meets them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scuff.cli.main import main

SMALL = [
    "--examples",
    "40",
    "--cases",
    "1",
    "--degrees",
    "0.5",
    "--dimensions",
    "keyboard",
    "truncate",
    "--encoder",
    "chrf",
]
TRAIN = ["--train-examples", "300", "--epochs", "2"]


def test_a_table_and_the_way_to_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [
        "harden",
        "toy:sentiment",
        "toy:sentiment",
        "--with",
        "augment(keyboard),shield(normalise)",
        "-o",
        "out",
        *SMALL,
        *TRAIN,
    ]
    monkeypatch.setattr(sys, "argv", ["scuff", *words])
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "toy:sentiment hardened by augment(keyboard), shield(normalise): accuracy in %" in out
    assert "seen in training\n  keyboard" in out and "never seen\n  truncate" in out
    assert out.endswith(
        "page: out/comparison.html\nmodel: out/model\nuse: scuff evaluate --config out/settings.yaml DATA\n"
    )
    assert "split   10% of the training texts are the dev part" in err and "train   fine-tune" in err
    assert (
        "scuff harden toy:sentiment toy:sentiment --with 'augment(keyboard)" in Path("out/model/README.md").read_text()
    )
    assert main(["evaluate", "--config", "out/settings.yaml", "toy:sentiment", "-q", "-o", "again", *SMALL]) == 0
    again, after = (json.loads(Path(run, "summary.json").read_text()) for run in ("again", "out/after"))
    assert again["overall"] == after["overall"] and again["shield"]["spec"] == "normalise"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected MODEL DATA, got too little"),
        (["toy:sentiment", "toy:sentiment"], "expected a new folder for the hardened model (-o FOLDER)"),
        (["a", "b", "c", "-o", "x"], "expected MODEL DATA, got 3 names"),
        (["toy:sentiment", "-o", "x"], "expected DATA, or --train FILE with --test FILE, got neither"),
        (["toy:sentiment", "toy:sentiment", "-o", "x", "--with", "pml"], "did you mean plm"),
        (["toy:sentiment", "toy:sentiment", "-o", "."], "expected a new folder or a hardening to go on with"),
    ],
)
def test_mistakes_are_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SCUFF_DEBUG", raising=False)
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["harden", *words]) == 2
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]


def test_a_dry_run_says_the_plan_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["toy:sentiment", "toy:sentiment", "--with", "augment(keyboard)", "-o", "out", "--dry-run", *SMALL]
    assert main(["harden", *words]) == 0
    err = capsys.readouterr().err
    assert "plan    augment(keyboard); measured before and after: keyboard, truncate\n" in err
    assert "never seen in training: truncate\n" in err and not list(tmp_path.iterdir())


def test_methods_are_listed_and_described(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "methods"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split("(")[0].split()[0] for line in listed] == ["augment", "plm", "pp", "attack", "shield"]
    assert main(["describe", "augment(keyboard)"]) == 0
    assert "trains on               keyboard\n" in capsys.readouterr().out


@pytest.mark.slow
def test_killed_it_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "scuff",
        "harden",
        "toy:sentiment",
        "toy:sentiment",
        "--with",
        "augment(keyboard)",
        *SMALL,
    ]
    for wanted in (
        "before/summary.json",
        "work/fine-tune.json",
        "after/run.json",
    ):  # killed once each of these is there
        process = subprocess.Popen(
            [*command, "-o", "killed"], cwd=tmp_path, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        until = time.monotonic() + 120
        while not (tmp_path / "killed" / wanted).exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    for name in ("killed", "whole"):
        subprocess.run([*command, "-q", "-o", name], cwd=tmp_path, check=True, capture_output=True)
    for name in ("model/weights.npz", "before/results.jsonl", "after/results.jsonl", "work/fine-tune.json"):
        killed, whole = ((tmp_path / folder / name).read_bytes() for folder in ("killed", "whole"))
        assert killed == whole, name
    proofs = [json.loads((tmp_path / folder / "proof.json").read_text()) for folder in ("killed", "whole")]
    assert proofs[0]["comparison"] == proofs[1]["comparison"]


@pytest.mark.slow
def test_the_demo_hardens_the_embedded_model_without_torch(tmp_path: Path) -> None:
    check = (
        "import sys; from scuff.cli.main import main; code = main(['demo', '--harden', '-q']); "
        "assert not {'torch', 'transformers'} & set(sys.modules); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (
        "The model became more robust" in done.stdout and (tmp_path / "scuff-demo-hardened/comparison.html").is_file()
    )
