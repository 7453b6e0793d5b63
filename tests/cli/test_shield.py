"""`scuff shield`: files as `scuff perturb` treats them, a log and a report of what was found, a gate, and errors of one line."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

import scuff
from scuff.cli.main import main
from scuff.shields import CHAINS, parse
from scuff.shields.names import NAMES

MODULE = """
from dataclasses import dataclass
from scuff.shields import Repairs, Shield

PLAIN = {"\\u043e": ("o", "look-alike"), "\\u200b": ("", "invisible"), "~": ("\\n", "line"), "_": (" ", "gap")}


@dataclass(frozen=True)
class Plain(Shield):
    "Write a few characters plainly; not a text with a bomb in it."

    always: bool = False
    kinds = ("look-alike", "invisible", "line", "gap")

    def mend(self, corpus):
        texts = corpus.strings()
        if self.always or any("bomb" in text for text in texts):
            raise IndexError("list index out of range")
        return Repairs.at(
            [(row, at, at + 1, *PLAIN[char]) for row, text in enumerate(texts) for at, char in enumerate(text) if char in PLAIN],
            self.kinds,
        )


@dataclass(frozen=True)
class Wrong(Shield):
    def mend(self, corpus):
        return corpus
"""
PLAIN = "odd_shields:Plain"
O, HIDDEN = "\u043e", "\u200b"
FINE, FOUL = "good words", f"g{O}{O}d w{HIDDEN}ords"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's module, in the folder where the program runs."""
    (tmp_path / "odd_shields.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))


def shield(name: str, content: str, *options: str, code: int = 0, spec: str = PLAIN) -> str:
    """Writes a file, shields it, and returns what was written."""
    Path(name).write_bytes(content.encode())
    out = Path(f"out.{name}")
    out.unlink(missing_ok=True)
    assert main(["shield", name, "--shield", spec, "-o", str(out), "-q", *options]) == code
    return out.read_bytes().decode()


def ended(*arguments: str) -> int:
    """Runs a command that ends with its exit code, as a gate does."""
    with pytest.raises(SystemExit) as stop:
        main(["shield", *arguments])
    return int(str(stop.value.code))


FILES = {  # @ stands for the text; what is around it stays byte for byte
    "a.txt": ("@\r\n\n  @ \nend", []),
    "whole.txt": ("@\n@", ["--whole"]),
    "a.csv": ('id;text;"odd"\n1;"@";"q"""\n2; @;\r\n', ["--delimiter", ";", "-c", "text"]),
    "two.csv": ("a,b,c\n@,@,@\n", ["-ca", "-cc"]),
    "a.tsv": ("text\tlabel\n@\tx\n", []),
    "a.jsonl": ('{"text":  "@", "n": 1.50}\n\n{"x": {"y": 2}, "text": null}\n', []),
    "a.json": ('[{"text": "@"},\n {"text": "fine"}]', []),
    "nested.jsonl": ('{"a": {"b": "@"}}\n', ["-c", "a.b"]),
}


@pytest.mark.parametrize("name", FILES)
def test_formats(name: str) -> None:
    content, options = FILES[name]
    wanted = content.replace("@", FINE)
    if name == "two.csv":
        wanted = wanted.replace(f"{FINE},{FINE},", f"{FINE},{FOUL},")
    assert shield(name, content.replace("@", FOUL), *options) == wanted
    assert shield(name, content.replace("@", FINE), *options) == content.replace("@", FINE), "clean bytes stay"


def test_json_escapes_stay_where_nothing_is_mended() -> None:
    line = '{"text": "p\\u00e4r", "y": "\\u043e"}\n'
    assert shield("a.jsonl", line) == line


def test_tokens_stay_tokens() -> None:
    content = f"g{O}_d\tA\n{HIDDEN}\tB\nw{HIDDEN}ord\tC\n"
    assert shield("a.conll", content) == f"go_d\tA\n{HIDDEN}\tB\nword\tC\n", "no token is parted or emptied"
    lists = json.dumps({"tokens": [f"g{O}od", "a_b"]}) + "\n"
    assert json.loads(shield("b.jsonl", lists, "-c", "tokens"))["tokens"] == ["good", "a_b"]


def test_parquet_and_gzip() -> None:
    Path("a.txt.gz").write_bytes(gzip.compress(FOUL.encode()))
    assert main(["shield", "a.txt.gz", "--shield", PLAIN, "-o", "b.txt.gz", "-q"]) == 0
    assert gzip.decompress(Path("b.txt.gz").read_bytes()).decode() == FINE
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"text": [FOUL, None], "n": [1, 2]}), "a.parquet")
    assert main(["shield", "a.parquet", "--shield", PLAIN, "-o", "b.parquet", "-q"]) == 0
    assert parquet.read_table("b.parquet").to_pydict() == {"text": [FINE, None], "n": [1, 2]}


def piped(content: bytes, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    return main(["shield", "--shield", PLAIN, *options])


def test_a_pipe(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Emoji with joiners, text from right to left and accents are no concern of this shield, and come through."""
    others = "👩\u200d🚀 שלום عربى naïve e\u0301\n"
    assert piped((FOUL + "\n" + others).encode(), monkeypatch) == 0
    out, err = capfdbinary.readouterr()
    assert out.decode() == f"{FINE}\n{others}"
    assert err.decode().startswith("2 texts, 1 mended by 3 repairs; scuff:") and f"|shield:{PLAIN}|" in err.decode()
    assert piped(b"", monkeypatch) == 0 and capfdbinary.readouterr().out == b""
    assert piped(f'{{"text": "{FOUL}"}}\n'.encode(), monkeypatch, "-") == 0
    assert capfdbinary.readouterr().out.decode() == f'{{"text": "{FINE}"}}\n', "what it holds is seen"


def test_the_log_has_what_changed() -> None:
    shield("a.csv", f"a,b\n{FINE},{FINE}\n{FINE},{FOUL}\n", "-ca", "-cb", "--edits", "log.jsonl")
    repairs = [[1, 2, O, "o", ["look-alike"]], [2, 3, O, "o", ["look-alike"]], [6, 7, HIDDEN, "", ["invisible"]]]
    log = [json.loads(line) for line in Path("log.jsonl").read_text(encoding="utf-8").splitlines()]
    assert log == [{"row": 1, "column": "b", "edits": repairs}], "texts that changed, no others"


@pytest.mark.parametrize(
    "command", [["shield", "--shield", PLAIN], ["perturb", "-p", "typo"]], ids=lambda each: each[0]
)
def test_the_log_of_nothing_is_empty(command: list[str]) -> None:
    Path("a.jsonl").write_text("\n\n")
    assert main([*command, "a.jsonl", "-o", "b.jsonl", "--edits", "log.jsonl", "-q"]) == 0
    assert Path("b.jsonl").read_text() == "\n\n" and Path("log.jsonl").read_text() == ""


def test_spans_follow() -> None:
    line = json.dumps({"text": FOUL, "kept": [[0, 4, "X"]], "moved": [[5, 11]]}) + "\n"
    new = json.loads(shield("a.jsonl", line, "--protect-spans", "kept", "--spans", "moved"))
    assert new == {"text": f"g{O}{O}d words", "kept": [[0, 4, "X"]], "moved": [[5, 10]]}
    assert json.loads(shield("b.jsonl", line, "--spans", "kept"))["kept"] == [[0, 4, "X"]]


def test_protected_text_and_only_some() -> None:
    text = f"#w{O}rd w{O}rd x_y\n"
    assert shield("a.txt", text, "--protect", "hashtags", "--protect", "re:x.y") == f"#w{O}rd word x_y\n"
    assert shield("a.txt", text, "--only", "hashtags") == f"#word w{O}rd x_y\n"


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    shield("a.txt", f"{FOUL}\n{FINE}\nw{O}rd {FOUL}\n", "--report")
    assert capsys.readouterr().out.splitlines() == [
        "kind         repairs     texts  examples",
        f"look-alike         5         2  g{O}{O}d → good, w{O}rd → word",
        "invisible          2         2  w\\u200bords → words",
        "",
        "    count  character that was replaced or removed",
        f"        5  {O} U+043E CYRILLIC SMALL LETTER O",
        "        2    U+200B ZERO WIDTH SPACE",
    ]
    shield("a.txt", f"{FINE}\n", "--report")
    assert capsys.readouterr().out == "nothing was found\n"
    shield("a.txt", f"{FOUL}\nbomb\n", "--report", "found.json", code=3)
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (found["texts"], found["changed_texts"], found["failed_texts"], found["repairs"]) == (2, 1, 1, 3)
    assert found["kinds"]["invisible"] == {"repairs": 1, "texts": 1, "examples": [[f"w{HIDDEN}ords", "words"]]}
    assert found["characters"][0] == {"character": O, "code": "U+043E", "name": "CYRILLIC SMALL LETTER O", "count": 2}
    assert f"shield:{PLAIN}" in found["signature"]


def test_a_report_stands_beside_texts_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text(FOUL, encoding="utf-8")
    assert main(["shield", "a.txt", "--shield", PLAIN, "--report", "-q"]) == 0
    out, err = capsys.readouterr()
    assert out == FINE and err.startswith("kind ")


def test_the_gate(capsys: pytest.CaptureFixture[str]) -> None:
    shield("a.txt", f"{FINE}\n", "--check")
    Path("b.txt").write_text(f"{FOUL}\n{FINE}\n", encoding="utf-8")
    assert ended("b.txt", "--shield", PLAIN, "-o", "out.b.txt", "--check", "-q") == 1
    assert capsys.readouterr().err == "scuff: texts that had to be mended: 1\n"
    assert Path("out.b.txt").read_text() == f"{FINE}\n{FINE}\n", "the texts are written all the same"


def test_one_bad_text_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    content = f'{{"text": "{FOUL}"}}\n{{"text": "half \\ud800"}}\n{{"text": "a bomb"}}\n{{"y": 1}}\n'
    wanted = content.replace(FOUL, FINE)
    assert shield("a.jsonl", content, code=3) == wanted
    told = capsys.readouterr().err.splitlines()
    assert told[-1].startswith(
        "scuff: texts that stay as before, since they could not be mended: 3; all others are done"
    )
    assert f"a.jsonl: line 3: {PLAIN}: IndexError: list index out of range" in "".join(told)
    assert "line 2: expected Unicode text, got the lone surrogate U+D800 at character 5" in "".join(told)
    assert shield("a.jsonl", content, "--skip-errors") == wanted


ERRORS = {
    "INPUT left out": (["--report", "a.txt"], "expected INPUT before --report, or - for standard input"),
    "unknown shield": (["a.txt", "--shield", "nonsense"], "expected the name of a shield, got 'nonsense'"),
    "no shield": (["a.txt", "--shield", "odd_shields:PLAIN"], "expected a shield (Shield) from odd_shields:PLAIN, got dict"),
    "no repairs": (["a.txt", "--shield", "odd_shields:Wrong"], "expected Repairs from odd_shields:Wrong.mend, got Corpus"),
    "output is input": (["a.txt", "--shield", PLAIN, "-o", "a.txt"], "expected an output other than the inputs for --output"),
    "report is input": (["a.txt", "--shield", PLAIN, "--report", "a.txt"], "other than the inputs for --report"),
    "one file twice": (["a.txt", "--shield", PLAIN, "-o", "b", "--edits", "b"], "expected different files for --output and"),
    "rate alone": (["a.txt", "--shield", PLAIN, "--false-alarms", "0.1"], "expected --false-alarms beside --detect"),
    "bad bytes": (["bad.txt", "--shield", PLAIN], "bad.txt: line 2: expected UTF-8, got byte 0xff at byte 5 of the file"),
    "line ends": (["line.txt", "--shield", PLAIN], "expected a shield that puts no line ends into lines, got one that does"),
    "wrong rule": (["a.txt", "--shield", PLAIN, "--only", "nothing"], "to protect, got 'nothing'"),
    "always": (["a.txt", "--shield", f"{PLAIN}(always=True)"], f"{PLAIN}(always=True) fails on every text: IndexError"),
}  # fmt: skip


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_one_line_and_leave_nothing(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text(FOUL, encoding="utf-8")
    Path("bad.txt").write_bytes(b"fine\n\xff\n")
    Path("line.txt").write_text("a~b\n")
    Path("out.txt").write_text("precious")
    before = {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    arguments, message = ERRORS[name]
    output = [] if "-o" in arguments else ["-o", "out.txt"]
    assert main(["shield", *arguments, *output]) in (2, 3)
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1
    assert {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


def test_list_and_describe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "shields"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0].partition("(")[0] for line in listed] == [*NAMES, *CHAINS]
    assert [line.split()[0] for line in listed if "default of `scuff shield`" in line] == ["fast"]
    for name, kind in NAMES.items():
        assert main(["describe", name]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"{name}: {kind.summary}\n") and ", ".join(kind.kinds) in out and "\noptions " in out
    assert main(["describe", "fast"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"fast: {CHAINS['fast']}\n") and all(f"\n{kind.name}" in out for kind in parse("fast").parts)
    assert (
        "Аdversarial at\\u200btacks are h.a.r.m.l.e.s.s" in out
        and "Adversarial attacks are harmless, I believe." in out
    )
    assert main(["describe", f"{PLAIN}(always=False)"]) == 0
    assert "options                 always=False" in capsys.readouterr().out
    assert main(["describe", "normalize"]) == 2
    assert (
        "expected the name of a perturbation or shield, got 'normalize'; did you mean normalise?"
        in capsys.readouterr().err
    )
    assert main(["shield", "-", "--shield", "fsat"]) == 2 and "did you mean fast" in capsys.readouterr().err
    assert main(["shield", "-", "--shield", "fast(tier=1)"]) == 2
    assert "expected no options for the chain fast (normalise+deobfuscate+restore)" in capsys.readouterr().err


def test_the_default_shield_mends(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.txt").write_text(f"The w{O}rds are h.i.d.d.e.n h{HIDDEN}ere, I beleive.\n", encoding="utf-8")
    assert main(["shield", "a.txt", "-q"]) == 0
    assert capsys.readouterr().out == "The words are hidden here, I believe.\n"


def test_detect(capsys: pytest.CaptureFixture[str]) -> None:
    clean, foul = "We went to the market and bought some bread.", f"Get free m{O}ney, cl{HIDDEN}ick h{O}urly"
    rows = [{"a": clean, "b": foul}, {"a": None, "b": clean}, {"a": "half \ud800", "b": ""}]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["a.jsonl", "-ca", "-cb", "--detect", "-o", "out.jsonl"]
    assert main(["shield", *command, "-q"]) == 3
    err = capsys.readouterr().err
    assert "a.jsonl: line 3, column 'a': expected Unicode text, got the lone surrogate U+D800" in err
    assert "texts that have no answer, since they could not be read: 1;" in err
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    told = [(line["row"], line["column"], line["tampered"]) for line in lines]
    assert told == [(0, "a", False), (0, "b", True), (1, "b", False), (2, "b", False)]
    assert max(lines[1]["kinds"], key=lines[1]["kinds"].get) in ("look-alike", "invisible")
    assert lines[1]["probability"] == round(scuff.detect(foul).probability, 4)
    assert ended(*command, "--skip-errors", "--check", "--false-alarms", "0.001") == 1
    said = capsys.readouterr().err.splitlines()
    assert "5 texts in out.jsonl, 1 called tampered with; scuff:" in said[0] and "false_alarms=0.001" in said[0]
    assert said[-1] == "scuff: texts that are called tampered with: 1"
    for flag in (["--report"], ["--edits", "x"], ["--shield", "fast"], ["--protect", "urls"]):
        assert main(["shield", *command, *flag]) == 2
        assert f"expected --detect without {flag[0]}, got both" in capsys.readouterr().err
    assert main(["shield", *command, "--false-alarms", "0.2"]) == 2
    assert "for detector.false_alarms, got 0.2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("restore(tier=context)", "text is quoted: restore(tier='context')"),
        ("", "expected the name of a shield, got ''"),
        ("own.py:Mine", "subclass scuff.shields.Shield and write mend"),
    ],
)
def test_errors_say_what_to_write(
    spec: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("class Mine:\n    pass\n")
    Path("in.txt").write_text("a text\n")
    assert main(["shield", "in.txt", "--shield", spec]) == 2
    assert message in capsys.readouterr().err
