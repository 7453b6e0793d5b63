"""The peers of the shields, each at its best: runs in their environment, reads lines of JSON and answers with lines of JSON.

    python -m venv PEERS && PEERS/bin/pip install symspellpy==6.10.1 pyspellchecker==0.9.1 Unidecode==1.4.0 anyascii==0.3.3 \
        ftfy==6.3.1 decancer_py==0.4.1 codespell==2.4.3
    echo '{"tool": "symspell", "texts": ["teh end"]}' | PEERS/bin/python benchmarks/shield_peers.py

benchmarks/restoration.py and benchmarks/shields.py start it. `{"tool": NAME, "texts": [...]}` gives the mended texts and the
processor's seconds, `{"pairs": NAME}` the (error, right word) pairs of a list. Needs nothing of Scuff.

Spelling correctors see one word at a time, without the punctuation around it, and what they would drop is kept: punctuation,
white space, the case of the word. Words that they know stay, and so does what has more digits than letters.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata, resources
from typing import Any

TOKEN = re.compile(r"\S+")
EDGES = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)  # punctuation before and after a word, which stays
PACKAGES = {
    "unidecode": "Unidecode", "anyascii": "anyascii", "decancer": "decancer_py", "ftfy": "ftfy", "symspell": "symspellpy",
    "symspell-compound": "symspellpy", "symspell-split": "symspellpy", "pyspellchecker": "pyspellchecker",
}  # fmt: skip


def by_word(text: str, correct: Callable[[str], str]) -> str:
    """The text with every word corrected that has a letter; what is around it stays."""

    def mend(found: re.Match[str]) -> str:
        before, word, after = EDGES.match(found[0]).groups()  # type: ignore[union-attr]
        letters, digits = (sum(map(kind, word)) for kind in (str.isalpha, str.isdigit))
        return before + correct(word) + after if letters > digits else found[0]

    return TOKEN.sub(mend, text)


def cased(new: str, old: str) -> str:
    """A correction, in lower case, with the case of the word."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


# ---- normalisers ----


def unidecode(text: str) -> str:
    from unidecode import unidecode as call

    return str(call(text))


def anyascii(text: str) -> str:
    from anyascii import anyascii as call

    return str(call(text))


def decancer(text: str) -> str:
    """Keeps case and emoji, which it would turn into letters. Texts that it refuses stay as they are."""
    import decancer_py

    try:
        return str(decancer_py.parse(text, retain_capitalization=True, retain_emojis=True))
    except ValueError:
        return text


def ftfy(text: str) -> str:
    """With compatibility normalisation, and without what would only cost it (straight quotes, HTML)."""
    import ftfy as package

    return str(package.fix_text(text, normalization="NFKC", uncurl_quotes=False, unescape_html=False))


# ---- spelling correctors ----


@cache
def symspell_words() -> Any:
    from symspellpy import SymSpell

    made, folder = SymSpell(2, 7), resources.files("symspellpy")
    made.load_dictionary(str(folder / "frequency_dictionary_en_82_765.txt"), 0, 1)
    made.load_bigram_dictionary(str(folder / "frequency_bigramdictionary_en_243_342.txt"), 0, 2)
    return made


def lookup(word: str, far: int = 2) -> str | None:
    """The nearest word at most so many edits away, the most frequent of these; None if there is none."""
    from symspellpy import Verbosity

    found = symspell_words().lookup(word.lower(), Verbosity.TOP, far)
    return found[0].term if found else None


def symspell_one(word: str) -> str:
    found = lookup(word)
    return word if found is None or found == word.lower() else cased(found, word)


def symspell(text: str) -> str:
    return by_word(text, symspell_one)


def symspell_compound(text: str) -> str:
    """lookup_compound, which also joins and parts words, on every stretch between punctuation."""

    def mend(found: re.Match[str]) -> str:
        if len(found[0]) < 2:
            return found[0]
        made = symspell_words().lookup_compound(found[0], 2, ignore_non_words=True, transfer_casing=True)
        return str(made[0].term)

    return re.sub(r"[^\W_]+(?:['’-][^\W_]+)*(?: [^\W_]+(?:['’-][^\W_]+)*)*", mend, text)


def split_one(word: str) -> str:
    """One edit away; else parted into words; else two edits away."""
    low = word.lower()
    near = lookup(low, 1)
    if near is not None:
        return word if near == low else cased(near, word)
    if len(low) >= 6 and low.isalpha():
        parts = symspell_words().word_segmentation(low, 0).segmented_string.split()
        counts = symspell_words().words
        if len(parts) > 1 and all(part in counts and (len(part) > 1 or part in "ai") for part in parts):
            return cased(" ".join(parts), word)
    return symspell_one(word)


def symspell_split(text: str) -> str:
    """unidecode first, then words one by one, glued ones parted: the best set-up of all that were tried."""
    return by_word(unidecode(text), split_one)


@cache
def pyspellchecker_words(far: int) -> Any:
    from spellchecker import SpellChecker

    return SpellChecker(distance=far)


@cache
def pyspellchecker_one(word: str) -> str:
    """Two edits; one for longer words, as its documentation advises: two take seconds there."""
    spell = pyspellchecker_words(2 if len(word) <= 10 else 1)
    if word.lower() in spell:
        return word
    return cased(spell.correction(word.lower()) or word, word)


def pyspellchecker(text: str) -> str:
    return by_word(text, pyspellchecker_one)


TOOLS: dict[str, Callable[[str], str]] = {
    "unidecode": unidecode, "anyascii": anyascii, "decancer": decancer, "ftfy": ftfy, "symspell": symspell,
    "symspell-compound": symspell_compound, "symspell-split": symspell_split, "pyspellchecker": pyspellchecker,
}  # fmt: skip


# ---- lists ----


def codespell() -> Iterator[tuple[str, str]]:
    """People's errors with one correction each, of one word."""
    lines = (resources.files("codespell_lib") / "data" / "dictionary.txt").read_text(encoding="utf-8").splitlines()
    for line in lines:
        error, _, right = line.partition("->")
        if re.fullmatch(r"[a-z]+", error) and re.fullmatch(r"[a-z]+", right.strip()):
            yield error, right.strip()


def answer(asked: dict[str, Any]) -> dict[str, Any]:
    if "pairs" in asked:
        return {"pairs": list(codespell()), "version": metadata.version("codespell")}
    mend = TOOLS[asked["tool"]]
    mend("warm up")
    begin = time.process_time()
    texts = [mend(text) for text in asked["texts"]]
    took = time.process_time() - begin
    return {"texts": texts, "seconds": took, "version": metadata.version(PACKAGES[asked["tool"]])}


if __name__ == "__main__":
    for request in sys.stdin:
        print(json.dumps(answer(json.loads(request))), flush=True)
