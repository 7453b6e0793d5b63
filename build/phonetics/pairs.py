"""Word pairs of known phonetic distance, to train WordSim on: real words, and spellings made from aligned letters."""

from __future__ import annotations

import random
from collections import Counter, defaultdict

# Spellings of the internet: the same sound, or nearly, in letters and digits. Written for Scuff.
SLANG = """love luv;you u;are r;tonight 2nite;great gr8;late l8;mate m8;later l8r;before b4;to 2;too 2;for 4;ate 8;why y;see c;be b;
your ur;you're ur;because cuz;because coz;thanks thanx;thanks thx;please pleez;please plz;people ppl;night nite;light lite;right rite;
through thru;though tho;what wat;what wot;that dat;the da;this dis;them dem;they dey;with wiv;with wit;girl gurl;boy boi;cool kool;
school skool;quick kwik;phone fone;photo foto;enough enuf;tough tuff;rough ruff;laugh laff;cough coff;says sez;does duz;was wuz;
come kum;some sum;done dun;one 1;won 1;someone sum1;anyone ne1;anything nething;everyone every1;today 2day;tomorrow 2moro;forever 4eva;
never neva;ever eva;better betta;sister sista;brother brotha;mother mutha;together 2gether;wait w8;hate h8;straight str8;skater sk8er;
excellent xlnt;easy ez;okay ok;okay k;and n;and nd;in n;oh o;sure shur;sugar shuga;nation nashun;station stayshun;special speshul;
water wota;wicked wikid;jacket jakit;magic majik;music muzik;boys boyz;girls gurlz;tunes toonz;dudes doodz;shoes shooz;
crazy krazy;club klub;clean kleen;kids kidz;fix fiks;fox foks;box boks;next nekst;expect ekspekt;exam egzam;my mi;by bi;high hi;
nice nyce;ice ise;price prise;advice advise;city sity;circle sirkle;center senter;cent sent;know no;knew new;write rite;wrong rong;
knight nite;knife nife;gnome nome;psycho syko;pneumonia numonia;island iland;debt det;doubt dout;receipt reseet;friend frend;
build bild;guess gess;guitar gitar;guard gard;league leeg;tongue tung;rhythm rithm;rhyme rime;ghost gost;what's wuts;going goin;
nothing nuthin;something sumthin;doing doin;coming comin;want to wanna;got to gotta;let me lemme;give me gimme""".replace(
    "\n", ""
)


def distance(one: list[str], other: list[str]) -> int:
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def bin_of(one: list[str], other: list[str]) -> int:
    """identical, very similar, similar, different by edit distance over the shorter length (thesis, eq. 3.1).

    The paper's eq. (3) has 1 minus that, with which its own bins make no sense.
    """
    share = distance(one, other) / min(len(one), len(other))
    return 0 if share == 0 else 1 if share < 0.1 else 2 if share <= 0.3 else 3


class Speller:
    """Spells sounds by the letters that stand for them in aligned words, by place in the word."""

    def __init__(self, aligned: dict[str, str]) -> None:
        counts: dict[tuple[str, int], Counter[str]] = defaultdict(Counter)
        for line in aligned.values():
            units = self.units(line)
            for at, (letters, sound) in enumerate(units):
                counts[sound, self.place(at, len(units))][letters] += 1
        self.choices = {key: ([*found], [*found.values()]) for key, found in counts.items()}

    @staticmethod
    def units(line: str) -> list[tuple[str, str]]:
        """(letters, sound), silent letters joined to what stands before them."""
        out: list[tuple[str, str]] = []
        for unit in line.split():
            letters, sound = unit.replace("|", "").rsplit("}", 1)[0], unit.rsplit("}", 1)[1].replace("|", " ")
            if sound == "_" and out:
                out[-1] = (out[-1][0] + letters, out[-1][1])
            else:
                out.append((letters, "" if sound == "_" else sound))
        return out

    @staticmethod
    def place(at: int, count: int) -> int:
        return 0 if at == 0 else 2 if at == count - 1 else 1

    def spell(self, sounds: list[tuple[str, str]], change: float, chance: random.Random) -> str:
        """Letters for units (letters or "" if not known, sound); known ones are spelled anew with probability `change`."""
        out = []
        for at, (letters, sound) in enumerate(sounds):
            known = self.choices.get((sound, self.place(at, len(sounds))))
            if known and (not letters or chance.random() < change):
                letters = chance.choices(*known)[0]
            out.append(letters)
        return "".join(out)


def pairs(sounds: dict[str, list[str]], aligned: dict[str, str], each: int, seed: int) -> list[tuple[str, str, int]]:
    """`each` pairs of every class."""
    chance = random.Random(seed)
    speller = Speller(aligned)
    words = [word for word in aligned if word in sounds]
    first = {word: sounds[word][0].split() for word in words}
    phonemes = sorted({p for found in first.values() for p in found})
    near: dict[tuple[str, ...], list[str]] = defaultdict(list)  # words that are equal without one sound
    same: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for word, found in first.items():
        same[tuple(found)].append(word)
        for at in range(len(found)):
            near[(*found[:at], "*", *found[at + 1 :])].append(word)
    homophones = [group for group in same.values() if len(group) > 1]
    neighbours = [group for group in near.values() if len(group) > 1]
    bins: list[list[tuple[str, str, int]]] = [[], [], [], []]

    def put(one: str, other: str, kind: int) -> None:
        if one != other and len(bins[kind]) < each:
            bins[kind].append((one, other, kind) if chance.random() < 0.5 else (other, one, kind))

    for line in SLANG.split(";"):
        one, _, other = line.rpartition(" ")
        for _ in range(each // 400):
            put(one.replace(" ", ""), other, 0)
    while min(map(len, bins)) < each:
        for group in chance.choices(homophones, k=200) if homophones else ():
            put(*chance.sample(group, 2), 0)
        for group in chance.choices(neighbours, k=600) if neighbours else ():
            one, other = chance.sample(group, 2)
            put(one, other, bin_of(first[one], first[other]))
        for word in chance.choices(words, k=1500):
            units = speller.units(aligned[word])
            known = [sound for _, sound in units]
            if chance.random() < 0.4:
                put(word, speller.spell(units, 0.5, chance), 0)
                continue
            for _ in range(chance.choice((1, 1, 1, 2, 2, 3))):  # change some sounds, then spell the result
                at = chance.randrange(len(units))
                what = chance.random()
                fresh = ("", chance.choice(phonemes))
                units[at : at + 1] = (
                    [fresh] if what < 0.5 else [] if what < 0.75 and len(units) > 2 else [units[at], fresh]
                )
            heard = [p for _, sound in units for p in sound.split()]
            if heard:
                spelled = speller.spell(units, 0.2, chance)
                put(word, spelled, bin_of([p for sound in known for p in sound.split()], heard))
        for _ in range(150):
            one, other = chance.sample(words, 2)
            put(one, other, bin_of(first[one], first[other]))
    out = [pair for group in bins for pair in group]
    chance.shuffle(out)
    return out
