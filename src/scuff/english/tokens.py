"""Sentences and tokens as English treebanks cut them: contractions and hyphens split, punctuation apart."""

from __future__ import annotations

import re
from itertools import pairwise

LONGEST = 150  # tokens; a longer sentence (a list, a table, noise) is cut, so that work stays bounded

ABBREVIATIONS = (
    "mr mrs ms dr prof rev hon gen col capt lt sgt sen rep gov pres st mt jr sr vs etc inc ltd co corp bros dept est fig "
    "vol al approx jan feb mar apr jun jul aug sept oct nov dec"
)

TOKEN = re.compile(
    r"""
      [A-Za-z]+(?=[\s,]|$)                                            # most words: nothing else begins like this
    | (?i:https?://|www\.)[^\s<>"]*[^\s<>"'.,;:!?)\]}]                # the address of a page
    | [@\#]\w+                                                        # a user, a topic
    | [:;=][-o^']?[)(\[\]DPp/\\|3]+(?!\w) | <3+(?!\d)                 # a face
    | (?i:-[lr][rsc]b-)                                               # brackets in data that was cut into tokens
    | \d+(?:[.,:/]\d+)*(?:st|nd|rd|th|s)?(?![^\W\d_])                 # a number
    | (?:[^\W\d_]\.){2,} | [A-Z]\.(?=\s+[A-Z][a-z]) | (?i:ABBREVIATIONS)\.(?=\s+\S)
    | [\w.+-]+@[\w-]+(?:\.[\w-]+)+                                    # the address of a mail box
    | (?:[^\W_][\u0300-\u036f]*)+(?:['’](?:[^\W_][\u0300-\u036f]*)+)* # a word, with apostrophes inside
    | ['’](?i:s|m|d|re|ve|ll|em|tis|twas|cause|n)\b                   # a part of a word, or a word with a part left out
    | ([.!?*=_~\#-])\1+ | [.!?]+ | `` | '' | \S                       # several marks are one token: !!!
    """.replace("ABBREVIATIONS", ABBREVIATIONS.replace(" ", "|")),
    re.VERBOSE,
)

CLITIC = re.compile(r"(?i)(?:n['’]t|['’](?:s|m|d|re|ve|ll))$")
INSIDE = {"cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "lemme": 3, "gimme": 3}  # two words: where the second begins
ENDS, WEAK = frozenset(".!?…。！？"), frozenset(("..", "...", "…"))  # a weak mark ends a sentence before a capital only
CLOSERS, QUOTES = frozenset(("''", ")", "]", "}", "”", "»", "-rrb-", "-RRB-")), frozenset("\"'’")
Span = tuple[int, int]


def sentences(text: str) -> list[list[Span]]:
    """The sentences of a text as (start, stop) of their tokens; all but white space is in one of them."""
    tokens = _tokens(text)
    edges, last = [0], 0
    mark = ""  # the mark that ended the sentence, unless a bracket or quote around it is still to close
    for at, (start, stop) in enumerate(tokens):
        first = text[start]
        ends = first in ENDS
        closes = ends or text[start:stop] in CLOSERS or (start == last and first in QUOTES)
        if mark and not closes:
            new = first.isupper() or (start > last and mark not in WEAK)
            mark = ""
        else:
            new = start - last > 0 and "\n" in text[last:start] and (not first.islower() or "\n\n" in text[last:start])
        if new or at - edges[-1] == LONGEST:
            edges.append(at)
        if ends:
            mark = text[start:stop]
        last = stop
    return [tokens[a:b] for a, b in pairwise([*edges, len(tokens)]) if a < b]


def _tokens(text: str) -> list[Span]:
    """The tokens of a text, contractions split."""
    found = []
    for match in TOKEN.finditer(text):
        start, stop = match.span()
        word = match.group()
        cut = 0
        if len(word) > 2 and ("'" in word or "’" in word):
            clitic = CLITIC.search(word)
            cut = clitic.start() if clitic else 0
        elif len(word) in (5, 6):
            cut = INSIDE.get(word.lower(), 0)
        if cut:
            found.append((start, start + cut))
            start += cut
        found.append((start, stop))
    return found
