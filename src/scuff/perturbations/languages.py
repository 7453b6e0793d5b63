"""Warns where texts are in a language that a perturbation is not made for."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator

from ..text.language import NAMES, find_language
from .base import Perturbation


class LanguageWarning(UserWarning):
    """Texts look like a language that a perturbation does not know: it changes little, or nonsense."""


def warn_of_language(perturbations: Iterable[Perturbation], texts: Iterable[str], stacklevel: int = 2) -> bool:
    """Warns once if some perturbations (`facts.languages`) are not made for the language of these texts.

    Returns whether the language was found, so that there is no need to ask again with more texts.
    """
    bound = {part.name: part.facts.languages for part in _single(perturbations) if part.facts.languages}
    language = find_language(texts) if bound else None
    if language is None:
        return not bound
    wrong = {name: made_for for name, made_for in bound.items() if not set(made_for) & set(language.codes)}
    if wrong:
        made_for = " and ".join(dict.fromkeys(NAMES.get(code, code) for codes in wrong.values() for code in codes))
        verb = "is" if len(wrong) == 1 else "are"
        message = f"{', '.join(wrong)} {verb} made for {made_for}, but the texts {language.looks}"
        warnings.warn(f"{message}: expect few changes, or strange ones", LanguageWarning, stacklevel + 1)
    return True


def _single(perturbations: Iterable[Perturbation]) -> Iterator[Perturbation]:
    """The perturbations, and the parts of combined ones in their place."""
    for one in perturbations:
        inner = getattr(one, "parts", None) or ([one.part] if hasattr(one, "part") else None)
        yield from _single(inner) if inner else (one,)
