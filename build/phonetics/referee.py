"""How words sound by espeak-ng, which took no part in training (GPL, so for building and judging only)."""

from __future__ import annotations

import espeakng_loader
from phonemizer.backend import EspeakBackend
from phonemizer.backend.espeak.wrapper import EspeakWrapper
from phonemizer.separator import Separator


def sounds(words: list[str]) -> dict[str, list[str]]:
    """The phonemes of each word as espeak-ng reads it, without stress and length."""
    EspeakWrapper.set_library(espeakng_loader.get_library_path())
    EspeakWrapper.set_data_path(espeakng_loader.get_data_path())
    unique = sorted(set(words))
    spoken = EspeakBackend("en-us", with_stress=False).phonemize(unique, Separator(phone=" ", word="|"), strip=True)
    return {word: line.replace("ː", "").replace("|", " ").split() for word, line in zip(unique, spoken, strict=True)}
