"""The three studies: what raters are asked, in the papers' words, and how their ratings are decided and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

StudyName = Literal["meaning", "validity", "readability"]
Decide = Literal["third", "vote", "mean", "median"]
STUDY_NAMES: tuple[StudyName, ...] = get_args(StudyName)
DECIDE: tuple[Decide, ...] = get_args(Decide)

CONTROLS, QUALIFYING = 10, 10  # items, by default
PASS = 0.8  # share of the controls, and of the qualification, that a rater must get right
CHRF_ABOVE = 0.78  # TEAPOT, section 4.3: 90 % of the French pairs rated 4 or 5 have a higher chrF
LANGUAGE = "English"  # of the paper's scale, whose note says "or the language of interest"


@dataclass(frozen=True)
class Study:
    """What raters do. scale: the words for each rating, from 0; () if texts are ranked. each: items of a stratum by default.

    decide: how one rating is made of several. ordinal: whether ratings have an order. paper: where the study is from.
    """

    name: StudyName
    title: str
    question: str
    scale: tuple[str, ...]
    instructions: tuple[str, ...]
    each: int
    decide: Decide
    ordinal: bool
    paper: str

    def wording(self, language: str) -> tuple[str, ...]:
        """Returns the scale for texts in a language."""
        return tuple(words.replace(LANGUAGE, language) for words in self.scale)


STUDIES: dict[StudyName, Study] = {
    "meaning": Study(
        "meaning",
        "How similar is the meaning?",
        "How would you rate the similarity between the meaning of these two sentences?",
        (
            "The meaning is completely different or one of the sentences is meaningless",
            "The topic is the same but the meaning is different",
            "Some key information is different",
            "The key information is the same but the details differ",
            "Meaning is essentially equal but some expressions are unnatural",
            f"Meaning is essentially equal and the two sentences are well-formed {LANGUAGE}",
        ),
        (
            "You see two sentences at a time. Rate how similar their meaning is, from 0 to 5.",
            "The order of the two says nothing. Judge each pair by itself.",
        ),
        100,
        "third",
        True,
        "Michel et al. 2019, section 2.2.1",
    ),
    "validity": Study(
        "validity",
        "Is the changed text still valid?",
        "Is the changed text a valid version of the original?",
        (
            "Not valid: the label or the meaning is not the same, or the changed text is hard to comprehend",
            "Valid: the original label is the same in the changed text, and the meaning of the part that decides the label "
            "is well preserved",
        ),
        (
            "You see an original text with its label, and a changed version of it.",
            "Give 1 if both hold: the original label is the same in the changed text, and the meaning of the part that decides "
            "the label is well preserved. Give 0 if either does not hold, or if the changed text is hard to comprehend.",
            "Do not guess the label from the changed text alone: compare it with the original.",
            "The first texts are a test. Only raters who pass it count.",
        ),
        50,
        "vote",
        False,
        "Chen et al. 2023, appendix D.1",
    ),
    "readability": Study(
        "readability",
        "Which version reads best?",
        "Rank these versions of one text by their readability, the most readable first.",
        (),
        (
            "You see several versions of one text. Rank them by how easily you can read them: 1 reads best.",
            "All versions get a rank, and no two the same.",
        ),
        10,
        "mean",
        True,
        "Benz 2020, section 5.1 and Table A.9",
    ),
}


def find_study(name: str) -> Study:
    """Returns a study by name. Raises ValueError if there is none."""
    for known, study in STUDIES.items():
        if known == name:
            return study
    raise ValueError(f"expected {', '.join(STUDIES)} for study, got {name!r}")
