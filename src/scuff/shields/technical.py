"""Technical spans: code, logs, paths, addresses, identifiers, numbers and codes. Shields leave them as they are.

What looks technical may be a disguise: `st_upid` is not taken for a name of a variable, since without its symbols it is a word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..text.corpus import Corpus
from ..text.ragged import Ints, Mask, Ragged, sums
from ..text.unicode import is_ascii_letter, is_white
from ..text.words import Spans
from .lexicon import lexicon

Found = list[tuple[int, int]]
# Strings between blanks in which these stand are technical, whatever else they are.
SURE = re.compile(
    r"""\x1b\[ | :: | (?<![>-])->(?!>) | => | [=!<>]= | (?<=\w)\(\) | :// | && | \|\| | </ | /> | `` | \\x[0-9a-fA-F]{2}
    | \\u[0-9a-fA-F]{4} | (?<![A-Za-z])\\(?:[rnt](?![\w.])|r\\n) | \w\.[A-Z]+_[A-Z]
    | \b[A-Za-z]:\\ | \b0[xX][0-9a-fA-F]+\b | \b[0-9a-f]{4,}(?:-[0-9a-f]{4,}){2}
    | \w=\w+;\w+= | ^--?[a-z][\w-]+= | \w="
    | \$\{ | ^(?:~|\.{1,2})?/[\w.-]+/[\w.-]""",
    re.VERBOSE,
)
FIGURES = re.compile(  # numbers and times, and markup of a wiki, which prose has, too
    r"\b\d{1,3}(?:_\d{3})+\b|\b\d+(?::\d\d)?[ap]m\b|\b\d?[ap]\.m\b"
    r"|\b\d{3}-\d{1,5}-\d{1,7}-\d{1,7}-\d\b|\b\d-\d{2,7}-\d{2,7}-[\dX]\b|\*\*\d|\d[kKMG]/\d|\d\w{0,6}/s\b|\d\d<\d\d"
    r"|\[\[[\w ]{0,30}[:|#]|\{\{\w+\||\d[\u00b7\u00d7]\d|\w[\u207a\u207b][\u00b9\u00b2\u00b3\u2070-\u2079]"  # powers with a sign
)
ADDRESS = re.compile(  # of the web, of mail, of a file; prose has these as well
    r"^(?:www|https?|ftp|file)[.:]|:/|^[^@]*@[^@]{2,}\.[^@]*$|\.(?:com|org|net|edu|gov|mil|info|html?|php|txt|pdf|jpe?g|png"
    r"|gif|docx?|xlsx?|csv|zip|exe|js|css|cpp|java|json|xml|svg|yaml|toml|md|py|sh|dll|aspx?|jsp|mp[34]|avi|ogg|wav|tar|gz"
    r"|uk)$",
    re.IGNORECASE,
)
QUOTED = re.compile(r"(?<!\w)(`{1,3})(?=\S)[^`\n]{1,99}(?<=\S)\1(?!\w)")  # in backquotes
CALL = re.compile(
    r"(?<=\w)(?:\((?:\w|[^()\s]{0,40}[^\w()\s][^()\s]{0,40}(?:(?<=,)[ ][^()\s]{1,40}){0,9})\)|\[[^\[\]\s]{0,40}\])(?!\w)"
)  # f(x), a[i]
BRACES = re.compile(r"\{\w+(?:[,:]\w*)+\}")
# These are disguises if they are a word without their symbols, or with their digits read as letters.
NAMED = re.compile(
    r"(?<![\w\\/.])(?:_*[A-Za-z][A-Za-z0-9]+(?:_+[A-Za-z0-9]{2,})+_*|__\w+__|[A-Za-z]{2}\w*(?:\\[\w.-]{2,})+"
    r"|(?=[A-Z]*\d[A-Z]*\d)(?=\d*[A-Z])[A-Z0-9]{6,}|(?=[a-f]*\d)[0-9a-f]{6,}"
    r")(?![\w\\])"
)
CHUNK, SYMBOLS = re.compile(r"\S+"), re.compile(r"[\W_]+")
CAMEL_WORD, CAMEL = re.compile(r"[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})+"), re.compile(r"[A-Z]?[a-z]+")
LEET = str.maketrans("013457", "oleast")
WORDS = (  # of computing, which no list of words has
    "args argv ascii async asyncio await awk backend backends basename baz bibtex bitbucket bool boolean callable "
    "charset chmod cls codec codecs conda config configs coroutine coroutines crlf csv cython dataframe dataframes "
    "datagram datetime dict dirname dns docstring docstrings dst enum env filename filenames finalizer finalizers foo "
    "frontend ftp func github gitlab grep gzip hashable hostname http https init int iterable iterables iterator "
    "iterators json jupyter kwargs linux localhost malloc metadata middleware mixin mixins mkdir multiprocessing mypy "
    "namespace netmask nginx npm numpy openssl pandas parsers pathname performant pip pipx plugins posix printf ptr "
    "pydantic pypi pytest readline refactor refactored regex repr runtime scikit scipy smtp src ssh sshd ssl stderr "
    "stdin stdlib stdout str struct subclass subclasses subprocess sudo superclass symlink symlinks systemctl tarfile "
    "tcp timestamp tls tmp tokenizer tokenizers toml tuple udp unicode unix uri url urls utf uuid venv yaml zlib "
)
JARGON = frozenset(WORDS.split())
# Lines of code, of a shell, and of a log.
LINE = re.compile(
    r"""^[ \t]*(?:
      >>>[ ] | \.\.\.[ ] | \$[ ]\S | \([\w.-]+\)[ ]?\$[ ] | [#]!/ | [\w.-]+@[\w.-]+[:~\w/]*[$#][ ]
    | import[ ][\w.]+(?:[ ]as[ ]\w+)?(?:,[ ]?\w+)*;?[ \t]*$ | from[ ][\w.]+[ ]import[ ] | (?:async[ ])?def[ ]\w+\(
    | class[ ]\w+[(:]
    | (?:if|for|while|switch|catch)[ ]?\(.*(?:[;{=<>]|\)$) | [#]include\b
    | (?:const|let|var|int|char|void|static)[ ]\w+[ ]?[=(;]
    | (?:sudo|pip|pipx|npm|git|apt|apt-get|conda|docker|systemctl|chmod|mkdir|rm|curl|wget|ssh)[ ](?:-|\w+[ \t]?-
      |install\b|\w+ctl\b|.*[/=]|\w+$)
    | \w[\w.\[\]'"]*[ ](?:[-+*/|&%]|//|\*\*)?=[ ](?=\S.*[(\[{"'.\d]|\w+;?$).*
    | (?:[\w.]+\(.*\)|[\w.\])'"]+[ ]?[=({].*|return\b.*|\w+);[ \t]*$
    | (?:\[|<\d+>)?(?:\d{4}-\d\d-\d\d|\d\d/\w{3}/\d{4}|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)?[ ]?(?:Jan|Feb|Mar|Apr|May|Jun
      |Jul|Aug|Sep|Oct|Nov|Dec)[ ]+\d+)[T: ]\d\d:\d\d
    | (?:SELECT|INSERT[ ]INTO|UPDATE|DELETE[ ]FROM|CREATE[ ](?:TABLE|INDEX|VIEW)|ALTER[ ]TABLE)[ ]
      .*(?:[;*=(]|[ ](?:FROM|SET|WHERE)[ ])
    | [d-][r-][w-][xs-][r-][w-][xs-][r-][w-][xt-][ ] | [|+](?:[-=]+[|+])+ | [)}\]]+[;,]?[ \t]*$
    ).*$""",
    re.VERBOSE | re.MULTILINE,
)
SIGNS = np.isin(np.arange(128), [ord(char) for char in "@\\_<>{}=`|#~^"])  # of addresses, mentions, tags and code
BESIDE = "/&$%+"  # before or behind a word that may be part of something else: w/o, R&B


OPENED = re.compile(r"^.*(?:[\w)=][ ]?\{|\w[(\[]|=[ ][(\[])[ \t]*$", re.MULTILINE)  # a line that ends in a bracket
# what a string between blanks is: text, a technical span, a figure or an address, maybe a name
ORDINARY, WHOLE, FIGURE, NAME = range(4)
PLAIN: set[str] = set()  # strings between blanks that were found ordinary
MANY, LONG, KEPT = 1 << 17, 30, 1000  # so many of them are kept, of so many characters; and texts of so many
OFTEN = 150  # words among which a span makes a text technical
MOST = 0.4  # the share of the characters of a line that are technical from which on all of it is


@dataclass(frozen=True, eq=False)
class Technical:
    """inside: which characters of all texts are technical. spans: how many technical spans each text has."""

    inside: Mask
    spans: Ints

    @staticmethod
    def of(corpus: Corpus, rows: Mask | None = None) -> Technical:
        """rows: the texts to look at, all others have none; default all."""
        inside = np.zeros(corpus.codes.size, np.bool_)
        many = np.zeros(len(corpus), np.int64)
        which = np.arange(len(corpus)) if rows is None else np.flatnonzero(rows)
        for row, text in zip(which.tolist(), corpus.take(which).strings(), strict=True):
            spans, figures = _kept_spans(text) if len(text) <= KEPT else _spans(text)
            many[row], begin = len(spans), int(corpus.offsets[row])
            for start, stop in (*spans, *figures):
                inside[begin + start : begin + stop] = True
        return Technical(inside, many)

    def rows(self, words: Ints, tampered: Ints | None = None) -> Mask:
        """Which texts are technical prose: a span in a few words, and fewer words that were tampered with.

        words: how many each text has.
        """
        out: Mask = (self.spans > 0) & (OFTEN * self.spans >= words)
        return out if tampered is None else out & (tampered <= self.spans)


@lru_cache(maxsize=1 << 13)
def _kept_spans(text: str) -> tuple[Found, Found]:
    """`_spans`, kept, since the shields of a chain ask for the same texts."""
    return _spans(text)


def _spans(text: str) -> tuple[Found, Found]:
    """The technical spans of one text, and its figures, times, addresses and markup."""
    found = []
    if "(" in text or "[" in text or "{" in text or "`" in text:  # without which none of these is there
        found = [match.span() for kind in (QUOTED, CALL, BRACES, OPENED) for match in kind.finditer(text)]
    lines = (0, *(end.end() for end in re.finditer("\n", text))) if "\n" in text else (0,)
    found += [line.span() for at in lines if (line := LINE.match(text, at))]
    named: list[tuple[str, int]] = []
    figures: list[tuple[int, int]] = []
    new = [chunk for chunk in {*text.split()} - PLAIN if not chunk.isalpha() or chunk in JARGON]
    for chunk in CHUNK.finditer(text) if new and not all(map(_plain, new)) else ():
        each = chunk.group()
        looks = ORDINARY if each in PLAIN else _looks(each)
        if looks == WHOLE:
            found.append(chunk.span())
        elif looks == FIGURE:
            figures.append(chunk.span())
        elif looks == NAME:
            named += [(match.group(), chunk.start() + match.start()) for match in NAMED.finditer(each)]
    if named:
        plain = [SYMBOLS.sub("", name).lower() for name, _ in named]
        word = lexicon().number(Ragged.of(plain)) >= 0
        word |= lexicon().number(Ragged.of([name.translate(LEET) for name in plain])) >= 0
        word |= lexicon().number(Ragged.of([name.strip("0123456789") for name in plain])) >= 0  # 10dead
        for (name, start), known in zip(named, word.tolist(), strict=True):
            if not known:
                (figures if name.isalnum() else found).append((start, start + len(name)))
    return _whole(text, found) if found else [], figures


def attached(corpus: Ragged, words: Spans, signs: str = "") -> Mask:
    """Which words are part of something else: of what stands between blanks with a sign of an address, a mention, a tag or code,
    at an inner dot, before a bracket. signs: symbols that tell so, too, where they stand directly before or behind a word.
    """
    code, edges = corpus.codes, corpus.offsets
    if not code.size:
        return np.zeros(len(words), np.bool_)
    opens = is_white(code)
    opens[edges[:-1][corpus.lengths > 0]] = True
    chunk = np.cumsum(opens)
    many = int(chunk[-1]) + 1
    found = np.bincount(chunk[SIGNS[np.minimum(code, 127)] & (code < 128)], minlength=many) > 0
    found |= np.bincount(chunk[code == ord("/")], minlength=many) > 1  # and/or is no address
    out: Mask = found[chunk[words.start]]
    around = np.concatenate((np.zeros(2, np.uint32), code, np.zeros(2, np.uint32)))
    digit = (around >= ord("0")) & (around <= ord("9"))
    solid = is_ascii_letter(around) | digit
    before = np.where(words.start > edges[words.row], around[words.start + 1], 0)
    behind = np.where(words.stop < edges[words.row + 1], around[words.stop + 2], 0)
    out |= behind == ord("(")  # print(x)
    dot = (behind == ord(".")) & (words.stop + 1 < edges[words.row + 1]) & solid[words.stop + 3]
    out |= dot & ~(digit[words.stop + 1] & digit[words.stop + 3])  # a dot between digits is one of a number
    dot = (before == ord(".")) & (words.start - 1 > edges[words.row]) & solid[words.start]
    out |= dot & ~(digit[words.start] & digit[words.start + 2])
    for sign in map(ord, signs):
        out |= ((before == sign) & ~digit[words.start + 2]) | (behind == sign)  # $5million
    return out


def _looks(chunk: str) -> int:
    """What a string between blanks is by its looks."""
    bare = chunk.strip(".,:;!?()'\"*")
    if chunk.isalpha() or (bare.isalpha() and "()" not in chunk):
        return WHOLE if bare in JARGON else ORDINARY
    if SURE.search(chunk):
        return WHOLE
    if FIGURES.search(chunk) or ADDRESS.search(bare):
        return FIGURE
    return NAME if NAMED.search(chunk) else ORDINARY


def _plain(chunk: str) -> bool:
    """Whether a string between blanks is ordinary text; if so, that is remembered."""
    plain = _looks(chunk) == ORDINARY
    if plain and len(chunk) <= LONG:
        if len(PLAIN) >= MANY:
            PLAIN.clear()
        PLAIN.add(chunk)
    return plain


def in_camel_case(texts: Ragged) -> Mask:
    """Which words are several words of the lexicon with capitals inside: ElementTree."""
    out = np.zeros(len(texts), np.bool_)
    small = (texts.codes >= ord("a")) & (texts.codes <= ord("z"))
    inner = np.append(False, small[:-1] & (texts.codes[1:] >= ord("A")) & (texts.codes[1:] <= ord("Z")))
    inner[texts.offsets[:-1][texts.lengths > 0]] = False
    mine = np.flatnonzero(sums(inner, texts.offsets) > 0)
    for word, name in zip(mine.tolist(), texts.take(mine).strings(), strict=True):
        parts = CAMEL.findall(name) if CAMEL_WORD.fullmatch(name) else []
        out[word] = bool(parts) and bool((lexicon().number(Ragged.of(parts)) >= 0).all())
    return out


def _whole(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans from blank to blank, and the lines that they make up most of."""
    wide, stop = [], 0
    for start, end in sorted(found):
        if end <= stop:
            continue
        begin = max(start, stop)
        while begin > stop and not text[begin - 1].isspace():
            begin -= 1
        stop = end
        while stop < len(text) and not text[stop].isspace():
            stop += 1
        wide.append((begin, stop))
    total = np.zeros(len(text) + 1, np.int64)
    for start, stop in wide:
        total[start + 1 : stop + 1] = 1
    total, begin, lines = np.cumsum(total), 0, []
    for line in text.split("\n"):
        inside = total[begin + len(line)] - total[begin]
        if inside and inside > MOST * len(line.strip()):
            lines.append((begin, begin + len(line)))
        begin += len(line) + 1
    return wide + lines
