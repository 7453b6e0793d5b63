"""A tiny language and translators of it, as tests build them."""

from __future__ import annotations

import torch

from scuff.translators.network import Sizes
from scuff.translators.translator import Translator, learn_vocabulary

WORDS = {
    "Hund": "dog", "Katze": "cat", "Haus": "house", "läuft": "runs", "schläft": "sleeps", "rote": "red", "große": "big",
    "l'eau": "water", "T-Shirt": "shirt",
}  # fmt: skip
SIZES = {"lstm": Sizes(12, 16, 2, dropout=0.1), "transformer": Sizes(16, 32, 2, 2, dropout=0.1)}


def pairs(count: int, seed: int = 0) -> list[tuple[str, str]]:
    """Sentences of one to six words, translated word by word, with marks directly behind some."""
    chance = torch.Generator().manual_seed(seed)
    known, out = list(WORDS), []
    for _ in range(count):
        length = int(torch.randint(1, 7, (), generator=chance))
        words = [known[at] for at in torch.randint(0, len(known), (length,), generator=chance).tolist()]
        end = ("", ".", ", oh!")[int(torch.randint(0, 3, (), generator=chance))]
        out.append((" ".join(words) + end, " ".join(WORDS[word] for word in words) + end))
    return out


def untrained(architecture: str, pieces: str = "words", seed: int = 0) -> Translator:
    """One with random weights, so large that translations differ widely."""
    torch.manual_seed(seed)
    source, target = (
        learn_vocabulary([pair[side] for pair in pairs(60)], pieces, joined=bool(side), size=60) for side in (0, 1)
    )
    translator = Translator.build(architecture, SIZES[architecture], source, target)
    with torch.no_grad():
        for weight in translator.network.parameters():
            weight.mul_(5 if architecture == "lstm" else 1.5)
    return translator
