"""Words in letters of another style: mathematical, circled, raised, of full width, or spelt with regional indicators."""

from __future__ import annotations

from functools import cache

import numpy as np

from ...text.ragged import Mask
from .look_alikes import CHINESE, FLAG, SUPER, WIDE
from .non_ascii import Odd, Rows

# Pairs of regional indicators that are flags.
REGIONS = (
    "ACADAEAFAGAIALAMAOAQARASATAUAWAXAZBABBBDBEBFBGBHBIBJBLBMBNBOBQBRBSBTBVBWBYBZCACCCDCFCGCHCICKCLCMCNCOCPCRCUCVCWCXCYCZ"
    "DEDGDJDKDMDODZEAECEEEGEHERESETEUFIFJFKFMFOFRGAGBGDGEGFGGGHGIGLGMGNGPGQGRGSGTGUGWGYHKHMHNHRHTHUICIDIEILIMINIOIQIRISIT"
    "JEJMJOJPKEKGKHKIKMKNKPKRKWKYKZLALBLCLILKLRLSLTLULVLYMAMCMDMEMFMGMHMKMLMMMNMOMPMQMRMSMTMUMVMWMXMYMZNANCNENFNGNINLNONPNRNUNZ"
    "OMPAPEPFPGPHPKPLPMPNPRPSPTPWPYQARERORSRURWSASBSCSDSESGSHSISJSKSLSMSNSOSRSSSTSVSXSYSZTATCTDTFTGTHTJTKTLTMTNTOTRTTTVTWTZ"
    "UAUGUMUNUSUYUZVAVCVEVGVIVNVUWFWSXKYEYTZAZMZW"
)


def styled(odd: Odd, rows: Rows) -> Mask:
    """Words in letters of another style: two or more, or one among plain letters; raised ones that are the whole word, or stand
    before a plain letter (1st and CO2 have them behind). Letters of full width are at home in Chinese and Japanese.
    """
    counts = odd.counts
    if not counts.styled.any():
        return np.zeros(len(odd.text), np.bool_)
    raised, flags = odd.kind == SUPER, odd.kind == FLAG
    rest = counts.styled - odd.count(raised | flags)
    word = (rest > 1) | (rest > 0) & (counts.plain + counts.accents > 0)
    high = odd.count(raised)
    low = odd.text.codes | 0x20
    letter = (odd.text.codes < 128) & (low > 96) & (low < 123)
    before = np.zeros(odd.word.size, np.bool_)
    before[:-1] = raised[:-1] & letter[1:] & (odd.word[:-1] == odd.word[1:])
    whole = (high > 1) & (high == counts.length) | (high > 3) | odd.any(before)
    east = rows.own[odd.row, CHINESE] * 3 > rows.latin[odd.row]
    home = east & odd.any(odd.kind == WIDE)
    return (word & ~home | whole | _spelt(odd, flags)) & (counts.hard == 0)


def _spelt(odd: Odd, flags: Mask) -> Mask:
    """Words of regional indicators that are no flags: their pairs are no regions, or one is left over; single ones if there are
    several in the text.
    """
    out = np.zeros(len(odd.text), np.bool_)
    if not flags.any():
        return out
    count = odd.count(flags)
    for number in np.flatnonzero(count > 1).tolist():
        mine = odd.text.codes[odd.text.offsets[number] : odd.text.offsets[number + 1]]
        letters = "".join(chr(code - 0x1F1E6 + 65) for code in mine.tolist() if 0x1F1E6 <= code < 0x1F200)
        pairs = {letters[at : at + 2] for at in range(0, len(letters), 2)}
        out[number] = not pairs <= _regions()
    single = count == 1
    many = np.bincount(odd.row[single], minlength=int(odd.row[-1]) + 1)
    return out | single & (many[odd.row] > 1)


@cache
def _regions() -> frozenset[str]:
    return frozenset(REGIONS[at : at + 2] for at in range(0, len(REGIONS), 2))
