"""Technical spans stay: code, logs, paths, identifiers, numbers, codes, formulas; disguises that look like them are mended."""

from __future__ import annotations

import time

import pytest

from scuff.shields.names import parse
from scuff.shields.technical import BESIDE, Technical, attached
from scuff.text.corpus import Corpus

STAY = [
    "Lines end in '\\n', '\\r', or '\\r\\n' here.",
    "The default is os.F_OK | os.X_OK for it.",
    "It took 8.89G [00:42<01:31, 223MB/s] in all",
    "It may raise RuntimeError or ask RStudio for help.",
    "Finalizers are called first; finalizers are more performant.",
    "The range is 18_446_744_073_709_551_615 (2**64 - 1).",
    "Order #A1B2-C3D4, ref. QX7781Z, VIN WVWZZZ1JZXW000001",
    "hex 0xFFFFFFFF",
    "colour 4baaaa",
    r"C:\Windows\System32\drivers",
    r"Run env\Scripts\activate.bat now",
    "a.m./p.m., 5p.m., 10am–4pm",
    "id a1b2c3d4-e5f6-7890-abcd-1234567890ab",
    "ISBN 978-3-16-148410-0",
    "NotImplementedError",
    "getElementById",
    "We call getElementById and raise a NotImplementedError here",
    "x = foo(bar, baz)",
    "dot(a, b)[i,j,k,m] = sum(a[i,j,:] * b[k,:,m])",
    "{m,n}",
    "a=b;c=d",
    "if (ptr != NULL) free(ptr);",
    "sudo systemctl restart nginx",
    "Jan  3 10:11:12 host sshd[123]: sshd exited",
    "import numpy as np",
    "rm -rf /tmp/foo",
    ">>> regex.match(r'a.*?', 'abcd')",
    "The failures are written to stderr and the value of `fpath` is kept.",
    "\x1b[31mred\x1b[0m text",
]
FORMULAS = ["∀x ∈ ℝ: x ≥ 0", "x̄ = 3.2, p̂", "a⃗ · b⃗", "𝐱ᵀ𝐀𝐱", "ˈbɒtl̩", "Φ Β Κ"]
DISGUISES = [
    ("h.e.l.l.o my friend", "hello my friend"),
    ("you get fr33 stuff", "you get free stuff"),
    ("my p@ssw0rd is", "my password is"),
    ("you are s_t_u_p_i_d", "you are stupid"),
    ("you are st_upid", "you are stupid"),
    ("c-l-i-c-k here", "click here"),
]


@pytest.mark.parametrize("spec", ["deobfuscate", "fast", "context"])
def test_technical_spans_stay(spec: str) -> None:
    assert parse(spec)(Corpus.of(STAY)).strings() == STAY


@pytest.mark.parametrize("spec", ["normalise", "fast", "context"])
def test_formulas_and_sounds_stay(spec: str) -> None:
    assert parse(spec)(Corpus.of(FORMULAS)).strings() == FORMULAS


@pytest.mark.parametrize("spec", ["deobfuscate", "fast"])
def test_disguises_are_mended(spec: str) -> None:
    old, new = zip(*DISGUISES, strict=True)
    assert parse(spec)(Corpus.of(old)).strings() == list(new)


def test_a_line_of_code_does_not_shield_the_next_line() -> None:
    found = Technical.of(Corpus.of(["import numpy as np\nplain words stand here"]))
    assert found.inside[:18].all() and not found.inside[19:].any()


def test_prose_is_not_technical() -> None:
    prose = ["The man (who was late) said: 10 dead; and/or more.", "Great film... see it!", "YORK(AP) It's on TV-14."]
    assert not Technical.of(Corpus.of(prose)).spans.any()


def test_a_text_says_the_same_in_any_batch() -> None:
    together = Technical.of(Corpus.of(STAY))
    assert together.spans.tolist() == [int(Technical.of(Corpus.of([text])).spans[0]) for text in STAY]


@pytest.mark.parametrize("piece", ["a", "(", "a_", "a(", "`", "A1", "aB", "\\a", "{a,", "0", " =", "/", "a=b;", "[a, "])
def test_long_texts_take_linear_time(piece: str) -> None:
    began = time.process_time()
    Technical.of(Corpus.of([piece * (40_000 // len(piece))]))
    assert time.process_time() - began < 2


ATTACHED = {
    "see foo.bar now": {"foo", "bar"},
    "he wrote at 11.55 and left.": set(),
    "mail me@example.org today": {"me", "example", "org"},
    "cats and/or dogs": set(),
    "look in usr/local/bin first": {"usr", "local", "bin"},
    "call print(x) twice": {"print"},
    "#tag of the day": {"tag"},
}


@pytest.mark.parametrize(("text", "expected"), ATTACHED.items())
def test_words_that_are_part_of_something_else(text: str, expected: set[str]) -> None:
    corpus = Corpus.of([text])
    found = attached(corpus, corpus.words)
    assert set(corpus.cut(corpus.words.where(found)).strings()) == expected


def test_symbols_beside_a_word() -> None:
    corpus = Corpus.of(["R&B for $5million"])
    assert attached(corpus, corpus.words, BESIDE).tolist() == [True, True, False, False]
