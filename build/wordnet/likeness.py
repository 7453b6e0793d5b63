"""How alike words are out of context: directions of a sentence encoder, which reads them in a frame (needs scuff[meaning])."""

from __future__ import annotations

import numpy as np

from scuff.huggingface.encoder import Encoder, find_encoder

FRAMES = {"n": "this is about the {} of it", "v": "they {} it", "a": "it is {}", "r": "it happened {}"}
SIMILAR = 0.65  # the least cosine of adjectives in different synsets of a cluster
Sense = tuple[int, int, str]  # number, synset, lemma


def vectors(lemmas: set[tuple[str, str]]) -> dict[tuple[str, str], np.ndarray]:
    """The direction of each lemma as a part of speech, in the encoder's space."""
    encode = Encoder.load(find_encoder())
    found = {}
    for part, frame in FRAMES.items():
        mine = sorted(lemma for other, lemma in lemmas if other == part)
        rows = encode([frame.format(lemma) for lemma in mine])
        rows -= rows.mean(0)  # what the frame adds to all
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        found |= {(part, lemma): row for lemma, row in zip(mine, rows, strict=True)}
    return found


def likeness(synsets: list[np.ndarray]) -> list[int]:
    """Cosines in percent of every two lemmas of a synset: first with second, first with third, ..., second with third, ..."""
    cosines = [(rows @ rows.T)[np.triu_indices(len(rows), 1)] for rows in synsets if len(rows) > 1]
    return np.clip(np.rint(100 * np.concatenate(cosines)), 0, 100).astype(int).tolist()


def similar(clusters: list[list[Sense]], found: dict[tuple[str, str], np.ndarray]) -> list[tuple[int, int, int]]:
    """Senses of different synsets of an adjective cluster that are very alike, in pairs both ways, and how alike in percent."""
    pairs = []
    for senses in clusters:
        plain = [sense for sense in senses if sense[2].isalpha()]
        rows = np.stack([found["a", lemma] for _, _, lemma in plain]) if plain else np.zeros((0, 1))
        cosines = rows @ rows.T
        for a, b in np.argwhere(cosines >= SIMILAR).tolist():
            if plain[a][1] != plain[b][1] and plain[a][2] != plain[b][2]:
                pairs.append((plain[a][0], plain[b][0], round(100 * float(cosines[a, b]))))
    return sorted(pairs)
