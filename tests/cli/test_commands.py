"""list, describe, demo, zeroe: what a new user meets."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from scuff.attacks.constraints import CONSTRAINTS
from scuff.attacks.goals import GOALS
from scuff.attacks.recipes import RECIPES
from scuff.attacks.search import SEARCHES
from scuff.cli.list import LISTS
from scuff.cli.main import main
from scuff.evaluation.dimensions import COLUMNS
from scuff.metrics import METRICS
from scuff.perturbations.base import LEVELS
from scuff.perturbations.names import NAMES, ZEROE, parse

NEAR = Path(__file__).parents[1] / "reference" / "neighbours.tsv"
TEXTS = [f"The number {n} is written here, with several ordinary words around it." for n in range(300)]


def test_list_and_describe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "perturbations"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(NAMES)
    assert main(["list"]) == 0
    everything = capsys.readouterr().out.split("\n\n")
    assert [family.split("\n")[0] for family in everything] == list(LISTS)
    for family, names in zip(
        everything, (NAMES, COLUMNS, RECIPES, GOALS, SEARCHES, CONSTRAINTS, METRICS), strict=False
    ):
        assert [line.split()[0].partition("(")[0] for line in family.splitlines()[1:]] == list(names)
    assert (
        "typo-m         typo@edits              malicious  default of `scuff evaluate`; degree: share of char"
        in everything[1]
    )
    assert [line.split()[0] for line in everything[2].splitlines() if "default of `scuff attack`" in line] == [
        "toxictrap", "deepwordbug"
    ]  # fmt: skip
    assert main(["list", "metrics", "--tag", "general"]) == 2
    assert "expected perturbations for --tag and --lang, got metrics" in capsys.readouterr().err
    assert main(["list", "--tag", "general", "--lang", "de"]) == 0
    shown = capsys.readouterr().out
    assert "keyboard" in shown and "intrude" not in shown and "natural" not in shown
    for name in NAMES:
        assert main(["describe", name]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{name}: ") and ("Zéroe" in out) == (name in ZEROE) and "options" in out
        built = parse(f"embedding(file={str(NEAR)!r})" if name == "embedding" else name)
        rows = dict(re.findall(r"^(selection|strength is a share of) +(.+)$", out, re.MULTILINE))
        assert rows == {"selection": built.selection, "strength is a share of": built.facts.unit}, "as it really runs"
    assert main(["describe", "typo@edits"]) == 0 and capsys.readouterr().out.startswith("typo: ")
    assert main(["describe", 'keyboard(layout="qwertz")']) == 0
    assert "phi=None, layout='qwertz', keys='letters'" in capsys.readouterr().out, "the options that it would have"
    assert main(["describe", "keyboard+typo"]) == 2
    assert "expected one perturbation, got 'keyboard+typo'" in capsys.readouterr().err
    assert main(["describe", "accuracy"]) == 2
    assert "got 'accuracy', one of the metrics: see `scuff list metrics`" in capsys.readouterr().err
    assert main(["augment", "toy:nope"]) == 2
    assert (
        "expected toy:sentiment, toy:tone or toy:translate for embedded data, got 'toy:nope'" in capsys.readouterr().err
    )
    assert main(["describe", "shufle"]) == 2
    assert "did you mean" in capsys.readouterr().err


def test_show(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "a perfectly ordinary sentence"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n{name}: " in out for name in NAMES) and "prfctly rdnry sntnc" in out


def zeroe(tmp_path: Path, name: str, content: str, *options: str) -> tuple[Path, dict[str, object]]:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert main(["zeroe", str(tmp_path / name), "-o", str(tmp_path / "out"), "-q", *options]) == 0
    return tmp_path / "out", json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))


def test_zeroe_writes_all_sets(tmp_path: Path) -> None:
    folder, manifest = zeroe(tmp_path, "a.txt", "\n".join(TEXTS) + "\n")
    names = list(ZEROE)
    assert len(names) == 10
    wanted = {"clean", "all"} | {f"{n}.{v}" for n in names for v in [*LEVELS, "lmh"]} | {f"no-{n}" for n in names}
    assert {path.name for path in folder.iterdir()} == {f"{w}.txt" for w in wanted} | {"manifest.json"}
    read = {w: (folder / f"{w}.txt").read_text(encoding="utf-8").splitlines() for w in wanted}
    assert read["clean"] == TEXTS
    for name in names:
        sets = [read[f"{name}.{level}"] for level in LEVELS]
        assert all(line in versions for line, *versions in zip(read[f"{name}.lmh"], *sets, strict=True))
    for left_out in names:
        others = [read[f"{n}.{level}"] for n in names if n != left_out for level in LEVELS]
        assert all(line in versions for line, *versions in zip(read[f"no-{left_out}"], *others, strict=True))
    entries = {entry["file"].removesuffix(".txt"): entry for entry in manifest["files"]}  # type: ignore[attr-defined]
    assert set(entries) == wanted
    for name in names:
        assert sum(entries[f"{name}.lmh"]["rows"].values()) == 300
        assert min(entries[f"{name}.lmh"]["rows"].values()) > 60, "about a third each"
        parts = Counter(key.split(".")[0] for key, n in entries[f"no-{name}"]["rows"].items() for _ in range(n))
        assert name not in parts and len(parts) == len(names) - 1 and min(parts.values()) > 12
    assert entries["keyboard.mid"]["reached"] == pytest.approx(0.5, abs=0.05)
    assert (
        entries["keyboard.mid"]["signature"].startswith("scuff:")
        and "level:0.5" in entries["keyboard.mid"]["signature"]
    )


def test_zeroe_of_little(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in {"empty.txt": "", "head.csv": "text,label\n", "one.txt": "some words here\n"}.items():
        (tmp_path / name).write_text(content)
        assert main(["zeroe", str(tmp_path / name), "-a", "keyboard", "-o", str(tmp_path / f"out-{name}")]) == 0
        suffix = Path(name).suffix
        wanted = {"clean", "all", "keyboard.low", "keyboard.mid", "keyboard.high", "keyboard.lmh"}
        assert {p.name for p in (tmp_path / f"out-{name}").iterdir()} == {w + suffix for w in wanted} | {
            "manifest.json"
        }
    for name in ("gone.txt", "bad.txt"):
        (tmp_path / "bad.txt").write_bytes(b"fine\n\xff\n")
        assert (
            main(["zeroe", str(tmp_path / name), "-o", str(tmp_path / "none")]) == 2
            and not (tmp_path / "none").exists()
        )
    assert (
        main(["zeroe", str(tmp_path / "one.txt"), "-a", "keyboard", "-a", "keyboard(phi=0)", "-o", str(tmp_path / "n")])
        == 2
    )
    assert "expected each perturbation once" in capsys.readouterr().err


def test_zeroe_goes_without_what_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from scuff.perturbations import natural
    from scuff.resources import MissingResource

    def gone(*_: object, **__: object) -> Path:
        raise MissingResource("pip install 'scuff[natural]'")

    monkeypatch.setattr(natural, "package_file", gone)
    (tmp_path / "a.txt").write_text("some words here\n")
    attacks = ["-a", "natural(errors='codespell')", "-a", "keyboard"]
    assert main(["zeroe", str(tmp_path / "a.txt"), "-o", str(tmp_path / "out"), "-q", *attacks]) == 0
    manifest = json.loads((tmp_path / "out/manifest.json").read_text(encoding="utf-8"))
    assert manifest["skipped"] == {"natural": "pip install 'scuff[natural]'"}


def test_zeroe_of_a_conll_2003_file(tmp_path: Path) -> None:
    """Columns between single blanks: no token may get a blank, and every tag stays with its token."""
    lines = [
        "-DOCSTART- -X- -X- O",
        "",
        "EU NNP B-NP B-ORG",
        "rejects VBZ B-VP O",
        "German JJ B-NP B-MISC",
        ". . O O",
        "",
    ]
    folder, manifest = zeroe(tmp_path, "eng.conll", "\n".join(lines * 30) + "\n")
    tags = [line.split(" ")[1:] for line in lines * 30]
    written = [path for path in folder.iterdir() if path.suffix == ".conll"]
    assert len(written) == 9 * 5 + 2 and manifest["skipped"] == {"segment": "joins words, whose tags would be lost"}
    for path in written:
        rows = path.read_text(encoding="utf-8").split("\n")[:-1]
        assert [row.split()[1:] for row in rows] == tags and [row.split(" ")[1:] for row in rows] == tags
    assert (folder / "intrude.high.conll").read_text(encoding="utf-8") != (folder / "clean.conll").read_text(
        encoding="utf-8"
    )


@pytest.mark.slow
def test_zeroe_of_tables_and_tokens(tmp_path: Path) -> None:
    rows = "".join(f"{n},premise number {n},another hypothesis,{n % 3}\n" for n in range(30))
    folder, _ = zeroe(
        tmp_path, "a.csv", "id,premise,hypothesis,label\n" + rows, "-c", "premise", "-c", "hypothesis", "--id", "id"
    )
    mixed = (folder / "no-segment.csv").read_text(encoding="utf-8").splitlines()
    assert mixed[0] == "id,premise,hypothesis,label" and len(mixed) == 31
    (tmp_path / "tokens").mkdir()
    folder, manifest = zeroe(tmp_path / "tokens", "a.conll", "Hello\tINTJ\nworld\tNOUN\n\n" * 20)
    assert list(manifest["skipped"]) == ["segment"] and not list(folder.glob("*segment*"))  # type: ignore[call-overload]
    assert main(["zeroe", str(tmp_path / "a.csv"), "-o", str(folder)]) == 2, "a folder with files is not written to"
    (tmp_path / "lists").mkdir()
    _, manifest = zeroe(tmp_path / "lists", "a.jsonl", '{"text": ["Hello", "wonderful", "world"]}\n' * 9)
    assert list(manifest["skipped"]) == ["segment"] and manifest["attacks"]["visual"] == "visual(scope='words')"  # type: ignore[call-overload, index]
