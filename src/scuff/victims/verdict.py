"""The label in what a language model writes: a label, a refusal, or neither."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .responses import begin

REFUSED = "refused"
REFUSAL = re.compile(
    r"(?:unfortunately,? |apologies,? (?:but )?)?(?:"
    r"i(?:'m| am) (?:\w+ )?sorry\b(?! to hear)|sorry,? (?:but )?i\b|i apologi[sz]e|"
    r"i (?:can't|cannot|can not|won't|will not|must decline|decline|refuse)\b(?! help but)|"
    r"i(?:'m| am) (?:unable|not able|not comfortable)|as an ai\b)"
)
DENIED = re.compile(r"(?:\bnot|n't|\bno|\bnon|\bnever|\bneither|\bnor)(?: an?)?[\s\"'*-]*$")
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
AROUND = " \t\n\"'`*_#>.,:;!?()[]{}<|~"
UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


class Verdicts:
    """Finds labels in texts, whatever their case and the quotes or markdown around them."""

    def __init__(self, labels: Sequence[str], owner: str) -> None:
        self.number = {_bare(label): at for at, label in enumerate(labels)}
        if len(self.number) < len(labels) or not labels or "" in self.number:
            what = "labels that differ in more than case and punctuation"
            raise ValueError(f"expected {what} for {owner}.labels, got {list(labels)}")
        longest_first = sorted(
            self.number, key=len, reverse=True
        )  # of "hate" and "hate speech", the one that says more
        self._mention = re.compile("|".join(map(_pattern, longest_first)))

    def one(self, text: str) -> int | str:
        """The number of the label, or the problem."""
        said = _bare(text)
        if said in self.number:
            return self.number[said]
        if REFUSAL.match(said):
            return REFUSED
        found = self._mentioned(said)
        return found.pop() if len(found) == 1 else unparsed(text)

    def several(self, text: str) -> set[int] | str:
        """The numbers of labels with commas between, none of them for "none"; or the problem."""
        said = _bare(text)
        parts = [_bare(part) for part in re.split(r"[,;\n]", THOUGHT.sub("", text)) if part.strip()]
        if parts and all(part in self.number for part in parts):
            return {self.number[part] for part in parts}
        if REFUSAL.match(said):
            return REFUSED
        found, none = self._mentioned(said), bool(re.search(r"\bnone\b", said)) and "none" not in self.number
        return found if bool(found) != none else unparsed(text)

    def _mentioned(self, said: str) -> set[int]:
        """Labels that occur as words of their own; nothing where one is denied: "not positive" is no label."""
        found = list(self._mention.finditer(said))
        if any(DENIED.search(said[: mention.start()]) for mention in found):
            return set()
        return {self.number[mention.group()] for mention in found}


def unparsed(text: str) -> str:
    return f"unparsed: {begin(text) or 'nothing'}"


def _bare(text: str) -> str:
    """Small letters, straight quotes, one blank for what stands between words, and nothing around."""
    text = THOUGHT.sub("", text).casefold().replace("\u2019", "'").replace("*", "").replace("_", " ").strip()
    text = re.sub(r"(?<=\w)-(?=\w)|\s+", " ", text.removeprefix("- "))
    return text.strip(AROUND) or text


def _pattern(label: str) -> str:
    """The label as a word; scripts without blanks between words have no such borders. 4 is not in 4.5, nor 1 in -1."""
    left = (
        "" if UNSPACED.match(label[0]) else r"(?<!\w)(?<!\d[.,])" + (r"(?<![-+\u2212])" if label[0].isdigit() else "")
    )
    right = "" if UNSPACED.match(label[-1]) else r"(?!\w)(?![.,]\d)"
    return left + re.escape(label) + right
