"""Slow, obvious searches: one example, one text at a time, Python lists and strings; as the papers and docstrings describe them.

They share nothing with the product but its dice. An option is (start, stop, new): put `new` in place of text[start:stop]. A
choice says which option is taken at which site. Each search returns the choice that it settles on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from reference.slow import splice, words
from scuff.attacks.search.base import Dice

Option = tuple[int, int, str]
Choice = dict[int, int]
NEVER = -math.inf
EVEN = 1e-6  # scores that differ by less count as equal


class Spent(Exception):
    """No query is left."""


@dataclass
class Game:
    """One example. margin: of a text in which a share of the words is changed. allowed: whether a text may be tried in which so
    many words are changed. like: how like the original it is. most: how many different texts may be asked, the original among
    them. importance: of each site, by gradients.
    """

    text: str
    sites: list[list[Option]]
    margin: Callable[[str, float], float]
    allowed: Callable[[str, int], bool]
    dice: Dice
    hidden: str = ""
    like: Callable[[str], float] | None = None
    most: float = math.inf
    open_ended: bool = False
    importance: Sequence[float] = ()
    asked: dict[str, float] = field(default_factory=dict)
    hits: dict[Option, set[int]] = field(default_factory=dict)
    seen: list[tuple[float, Choice]] = field(default_factory=list)  # what may be the result, in order

    def __post_init__(self) -> None:
        self.asked[self.text] = self.clean = self.margin(self.text, 0.0)
        self.words = [(start, start + sum(map(len, units))) for start, units in words(self.text)]

    def options(self, choice: Choice) -> list[Option]:
        return [self.sites[site][at] for site, at in sorted(choice.items())]

    def written(self, choice: Choice) -> str:
        return splice(self.text, self.options(choice))

    def ask(self, options: list[Option]) -> float:
        text = splice(self.text, options)
        if text not in self.asked:
            if len(self.asked) >= self.most:
                raise Spent
            self.asked[text] = self.margin(text, self.changed(options) / max(len(self.words), 1))
        return self.asked[text]

    def changed(self, options: list[Option]) -> int:
        """How many words they change."""
        return len(set().union(*map(self.hit, options)))

    def hit(self, option: Option) -> set[int]:
        """The words that an option replaces, or a part of them."""
        if option not in self.hits:
            inside = [begin < option[1] and option[0] < end for begin, end in self.words]
            self.hits[option] = {at for at, hit in enumerate(inside) if hit}
        return self.hits[option]

    def attempt(self, choice: Choice) -> float:
        """The margin of a choice, if it is allowed."""
        if choice and not self.allowed(self.written(choice), self.changed(self.options(choice))):
            return NEVER
        margin = self.ask(self.options(choice))
        self.seen.append((margin, choice))
        return margin

    def without(self, site: int) -> float:
        """The margin when something hides a site's words, or they are left out with the blank after them, or else before them."""
        start, stop = self.place(site)
        if not self.hidden and self.text[stop : stop + 1] == " ":
            stop += 1
        elif not self.hidden and self.text[:start].endswith(" "):
            start -= 1
        return self.ask([(start, stop, self.hidden)])

    def place(self, site: int) -> tuple[int, int]:
        """Where the words of a site begin and end."""
        start, stop = min(a for a, _, _ in self.sites[site]), max(b for _, b, _ in self.sites[site])
        there = [(begin, end) for begin, end in self.words if begin < stop and start < end]
        return (there[0][0], there[-1][1]) if there else (start, stop)

    def won(self, margin: float) -> bool:
        return margin > 0 and not self.open_ended

    def winner(self, choices: list[Choice], margins: list[float]) -> Choice:
        """Of those that reach the goal the one most like the original; else the first of the best."""
        found = [(choice, margin) for choice, margin in zip(choices, margins, strict=True) if margin > 0]
        if self.like is not None:
            likeness = [self.like(self.written(choice)) for choice, _ in found]
            found = [pair for pair, like in zip(found, likeness, strict=True) if like >= max(likeness) - EVEN]
        return first_best([choice for choice, _ in found], [margin for _, margin in found])[0]

    def each(self, site: int, choice: Choice) -> list[Choice]:
        """A choice with every option of one more site."""
        return [{**choice, site: at} for at in range(len(self.sites[site]))]


def first_best(choices: list[Choice], margins: list[float]) -> tuple[Choice, float]:
    """The first of those whose margin is as good as the best."""
    for choice, margin in zip(choices, margins, strict=True):
        if margin > NEVER and margin >= max(margins) - EVEN:
            return choice, margin
    return {}, NEVER


def most_first(values: Sequence[float]) -> list[int]:
    """Places by value; those that follow each other so closely that they count as equal, in their own order."""
    groups: list[list[int]] = []
    for at in sorted(range(len(values)), key=lambda at: -values[at]):
        if groups and not values[groups[-1][-1]] - values[at] > EVEN:
            groups[-1].append(at)
        else:
            groups.append([at])
    return [at for group in groups for at in sorted(group)]


def in_turn(game: Game, importance: Sequence[float]) -> Choice:
    """Sites by importance; at each the best option, if that is an improvement (paper, 2.4)."""
    choice, margin = {}, game.clean
    for site in most_first(importance):
        tried = game.each(site, choice)
        margins = [game.attempt(one) for one in tried]
        best, reached = first_best(tried, margins)
        if reached > margin + EVEN:
            if game.won(reached):
                return game.winner(tried, margins)
            choice, margin = best, reached
    return choice


def hidden_first(game: Game) -> Choice:
    """`unk` and `delete`, by what stands in place of a site's words."""
    return in_turn(game, [game.without(site) for site in range(len(game.sites))])


def score(margin: float) -> float:
    """The goal's score, in [0, 1]."""
    return margin if margin > 0 else margin + 1


def head_and_tail(game: Game, weight: float = 1.0) -> Choice:
    """By what a word adds to the text that ends before it, and to the text that begins behind it; a blank at the cut goes."""
    scores = []
    for site in range(len(game.sites)):
        (start, stop), end = game.place(site), len(game.text)
        before = start - 1 if game.text[:start].endswith(" ") else start
        behind = stop + 1 if game.text[stop : stop + 1] == " " else stop
        cuts = [(stop, end, ""), (before, end, ""), (0, start, ""), (0, behind, "")]
        up_to, ahead, onward, after = (score(game.ask([cut])) for cut in cuts)
        scores.append(ahead - up_to + weight * (after - onward))
    return in_turn(game, scores)


def weighted_saliency(game: Game) -> Choice:
    """PWWS, eq. 8: softmax of what hiding gains times what the best replacement gains, by the goal's score in [0, 1]."""
    sites = range(len(game.sites))
    hiding = [score(game.without(site)) - score(game.clean) for site in sites]
    best = [[game.attempt(one) for one in game.each(site, {})] for site in sites]
    gain = [max((score(m) - score(game.clean) for m in margins if m > NEVER), default=0.0) for margins in best]
    return in_turn(game, [math.exp(hiding[site]) * gain[site] for site in sites])  # the softmax's sum changes no order


def by_gradient(game: Game) -> Choice:
    return in_turn(game, game.importance)


def at_random(game: Game) -> Choice:
    return in_turn(game, game.dice.uniform(len(game.sites)).tolist())


def beam(game: Game, width: int = 1) -> Choice:
    """From each of the best choices every option at every open site; the best `width` of all that come out go on."""
    kept: list[Choice] = [{}]
    best, most = {}, game.clean
    while True:
        all_ways = [
            one
            for choice in kept
            for site in range(len(game.sites))
            if site not in choice
            for one in game.each(site, choice)
        ]
        tried = list({tuple(sorted(one.items())): one for one in all_ways}.values())  # each once
        margins = [game.attempt(one) for one in tried]
        top, margin = first_best(tried, margins)
        if margin == NEVER:
            return best
        if game.won(max(margins)):
            return game.winner(tried, margins)
        if margin > most + EVEN:
            best, most = top, margin
        kept = [tried[at] for at in most_first(margins)[:width] if margins[at] > NEVER]


Member = tuple[Choice, float]


def genetic(game: Game, population: int, generations: int, temperature: float) -> Choice:
    """Alzantot et al. 2018: mutate the original, then mate and mutate until a member reaches the goal."""
    members = mutated(game, [({}, game.clean)] * population)
    for _ in range(generations):
        members = [members[at] for at in most_first([margin for _, margin in members])]
        if game.won(members[0][1]):
            break
        members = [members[0], *mutated(game, children(game, members, population - 1, temperature))]
    best = members[most_first([margin for _, margin in members])[0]]
    return best[0] if best[1] > game.clean + EVEN else {}


def children(game: Game, members: list[Member], count: int, temperature: float) -> list[Member]:
    """Parents are drawn by fitness; a child has each site from either, and gives way to its better parent if it is forbidden."""
    top = max(margin for _, margin in members)
    weights = [math.exp((margin - top) / temperature) for _, margin in members]
    pairs = [(members[drawn(game.dice, weights)], members[drawn(game.dice, weights)]) for _ in range(count)]
    born = []
    for (mine, _), (theirs, _) in pairs:
        child: Choice = {}
        sites = sorted({*mine, *theirs})
        for site, coin in zip(sites, game.dice.uniform(len(sites)).tolist(), strict=True):
            giver = mine if coin < 0.5 else theirs
            if site in giver:
                child[site] = giver[site]
        born.append(child)
    margins = [game.attempt(child) for child in born]
    return [
        (child, margin) if margin > NEVER else (one if one[1] >= other[1] else other)
        for child, margin, (one, other) in zip(born, margins, pairs, strict=True)
    ]


def mutated(game: Game, members: list[Member]) -> list[Member]:
    """All members in rounds: each tries all options of a random site, likelier if it has many, until one is an improvement."""
    done = list(members)
    left = [[site for site in range(len(game.sites)) if site not in choice] for choice, _ in members]
    waiting = [at for at, sites in enumerate(left) if sites]
    while waiting and not any(game.won(margin) for _, margin in done):
        again = []
        for at in waiting:
            choice, margin = members[at]
            site = left[at].pop(drawn(game.dice, [len(game.sites[site]) for site in left[at]]))
            tried = game.each(site, choice)
            best, reached = first_best(tried, [game.attempt(one) for one in tried])
            if reached > margin + EVEN:
                done[at] = best, reached
            elif left[at]:
                again.append(at)
        waiting = again
    return done


def drawn(dice: Dice, weights: Sequence[float]) -> int:
    """A place, as likely as its weight."""
    rest = dice.uniform(1)[0] * sum(weights)
    for at, weight in enumerate(weights):
        rest -= weight
        if rest < 0:
            return at
    return len(weights) - 1


def best_of(game: Game, n: int, share: float) -> Choice:
    """Random choices, eight at a time, until one reaches the goal or n were tried; at most 4 n are drawn."""
    best, most, left = {}, game.clean, n
    drawn_before: list[Choice] = []
    for _ in range(math.ceil(4 * n / 8) if game.sites else 0):
        fresh = []
        for _ in range(8):
            count = 1 + game.dice.below(math.ceil(share * len(game.sites)))
            places = game.dice.order(len(game.sites)).tolist()[:count]
            choice = {site: game.dice.below(len(game.sites[site])) for site in places}
            if choice not in drawn_before:
                drawn_before.append(choice)
                fresh.append(choice)
        fresh = fresh[:left]
        margins = [game.attempt(choice) for choice in fresh]
        if any(map(game.won, margins)):
            return game.winner(fresh, margins)
        top, margin = first_best(fresh, margins)
        if margin > most + EVEN:
            best, most = top, margin
        left -= sum(margin > NEVER for margin in margins)
        if left <= 0:
            break
    return best


def played(game: Game, search: Callable[[Game], Choice]) -> tuple[str, float, int]:
    """The text that a search ends with, its margin, the queries. Where none is left, it is the best seen, if that is any good."""
    try:
        choice = search(game)
    except Spent:
        margin, choice = max(game.seen, key=lambda pair: pair[0], default=(NEVER, {}))
        choice = choice if margin > game.clean else {}
    text = game.written(choice)
    return text, game.asked[text], len(game.asked)
