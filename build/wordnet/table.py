"""Write src/scuff/resources/data/wordnet.npz: WordNet 3.0 as arrays, without what Scuff never asks for.

    apt-get download wordnet-base && dpkg -x wordnet-base_*.deb DIR && python build/wordnet/table.py DIR/usr/share/wordnet

Needs scuff[meaning]. Kept are lemmas in lower case (names are never replaced) that have a synonym or an opposite: their synsets, which
sense of theirs each is by frequency, adjective clusters, antonyms; and all phrases, names too, because the words of a fixed expression must
not be replaced one by one. Left out is what WordNet marks as obsolete, slang, offensive or a trade name. Two things are added:
- how familiar a word is: how often sense-tagged text (cntlist.rev) and the glosses and examples of WordNet have it;
- how often a lemma means what, from cntlist.rev, and how alike two synonyms are out of context, by a sentence encoder that reads both in
  the same frame ("they view it", "they watch it"; the mean of all lemmas taken off): words that mean the same only in a sense that
  nobody thinks of first can be told apart so, and adjectives of one cluster that mean nearly the same found ("great", "wonderful").
scuff.english.wordnet reads the table.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
from likeness import likeness, similar, vectors
from read import frequencies, licence, ranks, read, unwanted

TARGET = Path(__file__).parents[2] / "src/scuff/resources/data/wordnet.npz"
PARTS = "nvars"  # s: an adjective synset that belongs to the head before it
EXCLUSIVE = ("chromatic", "cardinal", "ordinal")  # clusters of words that exclude each other: what is red is not blue


def main() -> None:
    folder = Path(sys.argv[1])
    synsets, gloss_words = read(folder)
    rank, frequency = ranks(folder), frequencies(folder)
    tagged, means = Counter[str](), Counter[tuple[str, str]]()
    for (lemma, part, _), count in frequency.items():
        tagged[lemma] += count
        means[lemma, part] += count
    means.update((lemma, key[0]) for lemma, key in rank)  # one more for each sense: none is impossible
    dropped = unwanted(synsets)

    clusters = defaultdict(list)  # satellites by head
    antonyms, opposites = set(), set()
    for key, synset in synsets.items():
        for kind, other, source, target in synset.pointers:
            if kind == "&" and synset.satellite:
                clusters[other].append(key)
            if kind == "!":
                antonyms.add((synset.lemmas[source - 1], synsets[other].lemmas[target - 1]))
                opposites.add((key, other))
    opposed = {key for head, _ in opposites for key in (head, *clusters[head])}
    order = [
        (key, [at for at, m in enumerate(synsets[key].lemmas) if m == m.lower() and (key, m) not in dropped])
        for head, synset in synsets.items()
        if not synset.satellite
        for key in (head, *clusters[head])
    ]
    order = [(key, kept) for key, kept in order if len(kept) > 1 or key in opposed]
    number = {key: at for at, (key, _) in enumerate(order)}
    senses = [(key, at, synsets[key].lemmas[at]) for key, kept in order for at in kept]
    antonyms = {pair for pair in antonyms if all(lemma == lemma.lower() for lemma in pair)}
    words = sorted({lemma for _, _, lemma in senses} | {lemma for pair in antonyms for lemma in pair})
    place = {word: at for at, word in enumerate(words)}
    phrases = {lemma.lower() for synset in synsets.values() for lemma in synset.lemmas if 1 <= lemma.count(" ") <= 3}
    directions = vectors({(key[0], lemma) for key, _, lemma in senses})
    rows = np.stack([directions[key[0], lemma] for key, _, lemma in senses])
    edges = np.cumsum([0, *(len(kept) for _, kept in order)]).tolist()
    heads = {satellite: head for head, mine in clusters.items() for satellite in mine}
    groups = defaultdict(list)  # the senses of each adjective cluster
    for at, (key, _, lemma) in enumerate(senses):
        head = heads.get(key, key)
        if key[0] == "a" and not set(EXCLUSIVE) & set(synsets[head].lemmas):
            groups[head].append((at, number[key], lemma))
    arrays = {
        "licence": np.frombuffer(licence(folder).encode(), np.uint8),  # it must be on all copies
        "words": np.frombuffer("\n".join(words).encode(), np.uint8),
        "familiar": np.array([min(tagged[word] + gloss_words[word], 255) for word in words], np.uint8),
        "part": np.array([PARTS.index("s" if synsets[k].satellite else k[0]) for k, _ in order], np.uint8),
        "size": np.array([len(kept) for _, kept in order], np.uint8),
        "word": np.array([place[lemma] for _, _, lemma in senses], np.uint32),
        "rank": np.array([rank[lemma, key] for key, _, lemma in senses], np.uint8),
        "share": np.array(
            [100 * (1 + frequency.get((m, k[0], rank[m, k]), 0)) // means[m, k[0]] for k, _, m in senses], np.uint8
        ),
        "alike": np.array(likeness([rows[a:b] for a, b in pairwise(edges)]), np.uint8),
        "similar": np.array(similar(list(groups.values()), directions), np.uint32),
        "opposite": np.array(sorted((number[a], number[b]) for a, b in opposites), np.uint32),
        "antonym": np.array(sorted((place[a], place[b]) for a, b in antonyms), np.uint32),
        "phrases": np.frombuffer("\n".join(sorted(phrases - set(words))).encode(), np.uint8),
    }
    np.savez_compressed(TARGET, **arrays)
    for name, array in arrays.items():
        print(f"{name:10} {array.shape}")
    print(f"{TARGET.name}: {TARGET.stat().st_size / 1e6:.2f} MB, sha256 {sha256(TARGET.read_bytes()).hexdigest()}")


if __name__ == "__main__":
    main()
