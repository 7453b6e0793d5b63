"""Recognises token files and YAML by their lines, so that tags and keys are not perturbed as if they were prose."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

ROWS = 100  # rows that are looked at

MOST = 0.9  # the share of rows that has to look alike: all of a short file

CONLLU = re.compile(r"[0-9]+([-.][0-9]+)?\t[^\t]+\t")

BIO = re.compile(r"O|[BIESLUM]-\S+")  # a chunk or an entity

CAPITALS = re.compile(r"[A-Z][A-Z0-9$_.:|&+-]*|[^\w\s]{1,3}|-[LR]RB-")  # what most tag sets look like

UPOS = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
        "SYM", "VERB", "X"}  # fmt: skip

PENN = {"CC", "CD", "DT", "EX", "FW", "IN", "JJ", "JJR", "JJS", "LS", "MD", "NN", "NNS", "NNP", "NNPS", "PDT", "POS", "PRP",
        "PRP$", "RB", "RBR", "RBS", "RP", "TO", "UH", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "WDT", "WP", "WP$", "WRB",
        ".", ",", ":", "``", "''", "#", "$", "(", ")", "-LRB-", "-RRB-", "HYPH", "NFP"}  # fmt: skip

KEY = r"""(?:[A-Za-z_][\w.-]*|"[^"]*"|'[^']*')"""

ITEM = re.compile(rf"( *)((?:- +)*)({KEY}) *:(?: +(.*))?$")  # key: value, at any depth


def holds_tokens(lines: list[str]) -> bool:
    """Whether lines are those of a token file: a token and its tags, CoNLL-U, blank lines between sentences."""
    if any(line.startswith("-DOCSTART-") for line in lines):
        return True
    rows = [line for line in lines if line.strip() and not line.startswith("#")][:ROWS]
    if rows and sum(bool(CONLLU.match(row)) for row in rows) >= MOST * len(rows):
        return True
    fields = [row.split() for row in rows]
    width = Counter(map(len, fields)).most_common(1)[0][0] if rows else 0
    alike = [row for row in fields if len(row) == width]
    if len(rows) < 2 or width < 2 or len(alike) < MOST * len(rows):
        return False
    return any(_are_tags([row[at] for row in alike], [row[0] for row in alike]) for at in range(1, width))


def _are_tags(column: list[str], tokens: list[str]) -> bool:
    """Whether a column beside tokens holds tags: known ones, or a few words in capitals again and again."""
    most, kinds = MOST * len(column), set(column)
    if sum(bool(BIO.fullmatch(tag)) for tag in column) >= most and (
        len(column) > 4 or any("-" in tag for tag in kinds)
    ):
        return True
    if any(sum(tag in known for tag in column) >= most for known in (UPOS, PENN)) and any(map(str.isalpha, kinds)):
        return True
    if sum(tag.upper() in UPOS for tag in column) >= most and len(kinds) > 1:
        return True
    few = len(column) > 4 and 1 < len(kinds) <= len(column) / 2 and len(set(tokens)) > 1
    return few and not all(token.isupper() for token in tokens) and all(CAPITALS.fullmatch(tag) for tag in column)


def is_yaml(lines: list[str], names: set[str]) -> bool:
    """Whether lines are YAML: keys in a list or in another key, after ---, or known as names of columns.

    `Name: what was said` on each line, or a heading above a list, is prose, too, and is not taken for YAML.
    """
    rows = [line.rstrip() for line in lines if line.strip() and not line.lstrip().startswith("#")][:ROWS]
    begun = bool(rows) and rows[0] == "---"
    rows = [row for row in rows if row not in ("---", "...")]
    items = [ITEM.match(row) for row in rows]
    if not rows or not all(item or row.startswith((" ", "- ")) for row, item in zip(rows, items, strict=True)):
        return False
    keys = [item for item in items if item]
    if begun and keys:
        return True
    if any(before and item and _is_inside(before, item) for before, item in pairwise(items)):
        return True
    found = [key[3].strip("\"'").lower() for key in keys]
    known = {name for name in found if name in names or name.removesuffix("s") in names}
    listed = all(row.lstrip().startswith("- ") for row in rows[1:])
    if known and listed and len(rows) > 1 and (len(keys) == len(rows) or keys == items[:1]):
        return bool(keys[0][2]) or not keys[0][4]
    return len(known) > 1 and len(set(found)) == len(found) == len(rows)


def _is_inside(before: re.Match[str], item: re.Match[str]) -> bool:
    """Whether a key belongs to the same item of a list as the key before it, or to the value of that key."""
    beside = bool(before[2]) and not item[2] and len(item[1]) == len(before[1] + before[2])
    return beside or not (before[2] or before[4] or len(item[1]) <= len(before[1]))
