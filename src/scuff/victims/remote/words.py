"""What a chat model's words mean: a label, several, a refusal, or nothing that can be read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...specs import some
from ..answers import begin

REFUSED = "refused"

REFUSAL = re.compile(
    r"(?:unfortunately,? |apologies,? (?:but )?)?(?:"
    r"i(?:'m| am) (?:\w+ )?sorry\b(?! to hear)|sorry,? (?:but )?i\b|i apologi[sz]e|"
    r"i (?:can't|cannot|can not|won't|will not|must decline|decline|refuse)\b(?! help but)|"
    r"i(?:'m| am) (?:unable|not able|not comfortable)|as an ai\b)"
)

DENIED = re.compile(r"(?:\bnot|n't|\bno|\bnon|\bnever|\bneither|\bnor)(?: an?)?[\s\"'*-]*$")

THOUGHTS = r"(?:think(?:ing)?|thoughts?|reasoning)"
THOUGHT = re.compile(rf"\A.*</{THOUGHTS}>", re.DOTALL | re.IGNORECASE)  # some servers leave out the opening mark
UNFINISHED = re.compile(rf"<{THOUGHTS}>.*", re.DOTALL | re.IGNORECASE)

AROUND = " \t\n\"'`*_#>.,:;!?()[]{}<|~"

UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def thought_ends(text: str) -> int:
    """Where the final answer begins: after what the model thought before."""
    found = THOUGHT.match(text)
    return found.end() if found else 0


def final(text: str) -> str:
    """The final answer, without what the model thought; "" if it was cut off while it thought."""
    return UNFINISHED.sub("", text[thought_ends(text) :])


class Verdicts:
    """Finds labels in what a model wrote, in any case, with quotes or markdown around them."""

    def __init__(self, labels: Sequence[str], owner: str) -> None:
        self.number = {bare(label): at for at, label in enumerate(labels)}
        if len(self.number) < len(labels) or not labels or "" in self.number:
            what = "labels that differ in more than case and punctuation"
            raise ValueError(f"expected {what} for {owner}.labels, got [{some(map(repr, labels))}]")
        longest_first = sorted(self.number, key=len, reverse=True)  # "hate speech" before "hate"
        self._mention = re.compile("|".join(map(_pattern, longest_first)))

    def one(self, text: str) -> int | str:
        """The number of the label, or a problem."""
        said = bare(text)
        if said in self.number:
            return self.number[said]
        if REFUSAL.match(said):
            return REFUSED
        found = self._mentioned(said)
        return found.pop() if len(found) == 1 else unparsed(text)

    def begins(self, text: str) -> bool:
        """Whether the final answer begins with a label."""
        return bool(self._mention.match(bare(text)))

    def several(self, text: str) -> set[int] | str:
        """The numbers of labels with commas between them, an empty set for "none"; or a problem."""
        said = bare(text)
        parts = [bare(part) for part in re.split(r"[,;\n]", final(text)) if part.strip()]
        if parts and all(part in self.number for part in parts):
            return {self.number[part] for part in parts}
        if REFUSAL.match(said):
            return REFUSED
        found, none = self._mentioned(said), bool(re.search(r"\bnone\b", said)) and "none" not in self.number
        return found if bool(found) != none else unparsed(text)

    def _mentioned(self, said: str) -> set[int]:
        """The labels that occur as whole words; none if one is negated: "not positive" names no label."""
        found = list(self._mention.finditer(said))
        if any(DENIED.search(said[: mention.start()]) for mention in found):
            return set()
        return {self.number[mention.group()] for mention in found}


def unparsed(text: str) -> str:
    return f"unparsed: {begin(text) or 'nothing'}"


def bare(text: str) -> str:
    """In lower case, with straight quotes, one blank between words, and no punctuation around."""
    text = final(text).casefold().replace("\u2019", "'").replace("*", "").replace("_", " ").strip()
    text = re.sub(r"(?<=\w)-(?=\w)|\s+", " ", text.removeprefix("- "))
    return text.strip(AROUND) or text


def _pattern(label: str) -> str:
    """A label as a whole word, unless its script has no blanks between words. 4 is not in 4.5, nor 1 in -1."""
    left = (
        "" if UNSPACED.match(label[0]) else r"(?<!\w)(?<!\d[.,])" + (r"(?<![-+\u2212])" if label[0].isdigit() else "")
    )
    right = "" if UNSPACED.match(label[-1]) else r"(?!\w)(?![.,]\d)"
    return left + re.escape(label) + right
