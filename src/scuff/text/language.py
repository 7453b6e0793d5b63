"""Which language texts are in, where their letters or their function words say so beyond doubt."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import islice
from typing import NamedTuple

ENOUGH_LETTERS = 12  # of another script
ENOUGH_WORDS, DIFFERENT = 4, 3  # function words of a language, and how many different ones
MOST = 40_000  # characters that are looked at
LONGEST = 2_000  # characters of one text that are looked at

# Frequent words of each language, without those that English has, too, as words, names or slang.
WORDS = {
    "en": "the of and to in is that it for was with as on be at by this had are but from or have an they which you were all "
    "her she there would their we him been has when who will if so said what up its about than into them can only "
    "other i my me do not your just out get like im dont lol he his how our us no these some",
    "de": "der und das ist nicht ein eine einen einem einer ich sie mit dem auf für auch sich wir aber oder sind wie noch "
    "nur wenn über nach bei wird werden haben zum zur aus durch vom als dass daß doch mein kein schon sehr",
    "fr": "le les des et est une dans que qui pour pas avec ce cette sont au aux nous vous elle être ont mais où il je ne "
    "se son sa ses été leur plus très comme tout c'est d'un d'une qu'il deux",
    "es": "el los las que y en una por con para del lo como más pero sus está muy fue este esta cuando también porque todo "
    "hay ya qué eso nos ser tiene dos hombre",
    "it": "il gli di che è una per non sono della nel dei delle anche più questo questa alla ma con ha ed lo degli nella "
    "essere stato sul tra uomo due",
    "pt": "os do da em um uma que não com para é na dos das mais foi ao pelo pela também muito ser você isso ele ela seu "
    "sua são está",
    "nl": "het een van dat niet zijn voor met ook aan er maar deze wordt naar bij hij zij wij heeft uit nog werd geen wel "
    "kan zich ik",
    "pl": "nie na się jest że jak ale tak czy są dla przez był było oraz który od przy tylko może jego już",
    "cs": "je se na že ale jak tak jako pro jsem jsou byl být nebo který při až také už jeho od který muž žena dva ve",
    "sv": "och att det som är på inte av till ett jag har från men vid när kan han hon den efter där över",
    "da": "og det at er til på ikke som jeg af har fra men ved når kan han hun efter hvor også",
    "tr": "ve bir bu için çok ile ama gibi daha olarak kadar sonra değil olan ne mi",
    "ro": "și în nu este cu pe care mai din sunt pentru că la ca sau fost această",
    "fi": "ja ei että oli hän mutta niin kun ovat myös joka olla tai sen",
    "hu": "az és nem hogy egy ez van meg csak volt már vagy mint kell",
    "id": "yang dan ini itu dengan untuk tidak dari pada akan juga saya ada orang",
}

NAMES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch",
    "pl": "Polish", "cs": "Czech", "sv": "Swedish", "da": "Danish or Norwegian", "tr": "Turkish", "ro": "Romanian",
    "fi": "Finnish", "hu": "Hungarian", "id": "Indonesian or Malay",
}  # fmt: skip

# Letters of other scripts, and the languages that are written with them.
SCRIPTS = {
    "Cyrillic": ("\u0400-\u052f", "ru uk bg sr mk be kk"), "Greek": ("\u0370-\u03ff", "el"), "Hebrew": ("\u0590-\u05ff", "he yi"),
    "Arabic": ("\u0600-\u06ff\u0750-\u077f", "ar fa ur ps"), "Devanagari": ("\u0900-\u097f", "hi mr ne sa"),
    "Bengali": ("\u0980-\u09ff", "bn as"), "Tamil": ("\u0b80-\u0bff", "ta"), "Thai": ("\u0e00-\u0e7f", "th"),
    "Georgian": ("\u10a0-\u10ff", "ka"), "Armenian": ("\u0530-\u058f", "hy"), "Chinese": ("\u4e00-\u9fff", "zh ja"),
    "Japanese": ("\u3040-\u30ff", "ja"), "Korean": ("\uac00-\ud7af", "ko"),
}  # fmt: skip


class Language(NamedTuple):
    """What texts look like, in words, and the codes (ISO 639-1) of the languages that this can be."""

    looks: str
    codes: tuple[str, ...]


def find_language(texts: Iterable[str]) -> Language | None:
    """Returns the language or script of texts; None if they are short, mixed or in doubt.

    Looks at the first texts only. A few words or names of another language do not count: its function words must be several, and
    far more than English ones.
    """
    sample = "\n".join(text[:LONGEST] for text in islice(texts, 400))[:MOST].lower()
    if not sample.isascii():
        letters = sum(map(str.isalpha, sample))
        for name, (letter, codes) in _script_patterns().items():
            if len(found := letter.findall(sample)) >= ENOUGH_LETTERS and 2 * len(found) > letters:
                return Language(f"are written in {name} letters", codes)
    tokens = Counter(re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", sample))
    counts, different = dict.fromkeys(WORDS, 0), dict.fromkeys(WORDS, 0)
    for word, count in tokens.items():
        for code in _languages().get(word, ()):
            counts[code] += count
            different[code] += 1
    best, second = sorted(counts, key=lambda code: -counts[code])[:2]
    if counts[best] < ENOUGH_WORDS or different[best] < DIFFERENT:
        return None
    if best == "en":
        return Language("look English", ("en",)) if counts[best] >= 3 * counts[second] else None
    return (
        Language(f"look {NAMES[best]}", (best,))
        if counts[best] >= 3 * counts["en"] and 8 * counts[best] >= tokens.total()
        else None
    )


@cache
def _languages() -> dict[str, tuple[str, ...]]:
    """The languages that each frequent word is of; those of English are of no other."""
    english = set(WORDS["en"].split())
    out: dict[str, tuple[str, ...]] = {}
    for code, words in WORDS.items():
        for word in dict.fromkeys(words.split()):
            if code == "en" or word not in english:
                out[word] = (*out.get(word, ()), code)
    return out


@cache
def _script_patterns() -> dict[str, tuple[re.Pattern[str], tuple[str, ...]]]:
    return {name: (re.compile(f"[{letters}]"), tuple(codes.split())) for name, (letters, codes) in SCRIPTS.items()}
