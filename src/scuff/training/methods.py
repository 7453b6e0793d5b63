"""The methods that harden a model: `augment`, `plm`, `pp`, `attack(...)`, `shield(...)`, alone or together.

`name(what, option=value)`: what stands first in the brackets says which perturbations, recipes or shield, and may be left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from ..attacks.recipes import find_recipe
from ..perturbations.base import Perturbation
from ..specs import Part, check_count, check_number, known_name, split_outside
from .attacked import GAMMA
from .mixtures import Mixture

# what `augment`, `plm` and `pp` train on if nothing is named: noise of most sorts, each at low, mid and high
USUAL_MIXTURE = ("inner-shuffle", "intrude", "keyboard", "natural", "segment", "visual")
# measured beside what was trained on, if the user names no dimensions: noise that USUAL_MIXTURE lacks, mostly
USUAL_UNSEEN = ("disemvowel", "truncate", "phonetic", "synonym", "inflection")
USUAL_RECIPE = "deepwordbug"  # needs no files
USUAL_SHIELD = "fast"
NAMED = re.compile(r"[\w-]+\s*=(?!=)")


@dataclass(frozen=True)
class Method(Part):
    """A way to harden a model. trains: it changes the weights. what: which option the text without a name in the brackets is."""

    trains: ClassVar[bool] = True
    what: ClassVar[str]

    @property
    def given(self) -> str:
        """What stands first in the brackets."""
        return str(getattr(self, self.what))

    @property
    def spec(self) -> str:
        options = [
            f"{each.name}={getattr(self, each.name)!r}"
            for each in fields(self)
            if each.name != self.what and getattr(self, each.name) != each.default
        ]
        inside = ", ".join([*([self.given] if self.given else []), *options])
        return f"{self.name}({inside})" if inside else self.name

    def perturbations(self, tokens: bool) -> list[Perturbation]:
        """What a model that is hardened by this method has seen. tokens: the data has a tag per token."""
        return []


@dataclass(frozen=True)
class WithMixture(Method):
    """A method that trains on the texts of a mixture; "": USUAL_MIXTURE, as far as the data allows."""

    mixture: str = ""

    what: ClassVar[str] = "mixture"

    def __post_init__(self) -> None:
        self.mixed(tokens=False)

    def mixed(self, tokens: bool) -> Mixture:
        """The mixture for data with a tag per token, or without. Raises ValueError if it is none."""
        usual = [name for name in USUAL_MIXTURE if not (tokens and name == "segment")]
        return Mixture.of(self.mixture or usual)

    def perturbations(self, tokens: bool) -> list[Perturbation]:
        return self.mixed(tokens).perturbations


@dataclass(frozen=True)
class Augment(WithMixture):
    """Train on clean examples and a perturbed copy of each, new in every epoch; `clean=False`: on the copies alone."""

    clean: bool = True

    name: ClassVar[str] = "augment"
    summary: ClassVar[str] = (
        "train on clean examples and perturbed copies, new in every epoch (Zéroe's 1-1 and leave-one-out)"
    )


@dataclass(frozen=True)
class Pretraining(WithMixture):
    """A method that trains the encoder on texts alone, before fine-tuning. epochs: of that; 0: as many as help."""

    epochs: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count(self.epochs, 0, f"{self.name}.epochs")


@dataclass(frozen=True)
class Plm(Pretraining):
    """Teach the encoder to restore the clean sentence from the perturbed one, then fine-tune (Zéroe's PLM)."""

    name: ClassVar[str] = "plm"
    summary: ClassVar[str] = "pretrain: restore the clean sentence from the perturbed one, then fine-tune (Zéroe's PLM)"


@dataclass(frozen=True)
class Pp(Pretraining):
    """Masked language modelling on perturbed texts, then fine-tune (Zéroe's PP)."""

    name: ClassVar[str] = "pp"
    summary: ClassVar[str] = "pretrain: masked language modelling on perturbed texts, then fine-tune (Zéroe's PP)"


@dataclass(frozen=True)
class OnAttacks(Method):
    """Train on adversarial examples of the training part, found by one recipe (ToxicTrap's AT1) or several (AT2).

    gamma: how many, as a share of the training part.
    """

    recipes: str = USUAL_RECIPE
    gamma: float = GAMMA

    name: ClassVar[str] = "attack"
    what: ClassVar[str] = "recipes"
    summary: ClassVar[str] = (
        "train on adversarial examples of the training part: attack(deepwordbug, tt-pwws) (ToxicTrap)"
    )

    def __post_init__(self) -> None:
        check_number(self.gamma, 0, 1, "attack.gamma")
        if not self.each:
            raise ValueError("expected a recipe for attack.recipes, got none")
        if len(set(self.each)) < len(self.each):
            raise ValueError(f"expected each recipe once for attack.recipes, got {self.recipes}")

    @property
    def each(self) -> list[str]:
        return [name.strip() for name in split_outside(self.recipes, ",") if name.strip()]

    def perturbations(self, tokens: bool) -> list[Perturbation]:
        return [part.perturbation for name in self.each for part in find_recipe(name).perturbations]


@dataclass(frozen=True)
class Shielding(Method):
    """Mend texts before the model sees them. Nothing is trained; beside a method that trains, the training texts are mended,
    too, so that the model learns from what it will see.
    """

    shield: str = USUAL_SHIELD

    name: ClassVar[str] = "shield"
    trains: ClassVar[bool] = False
    what: ClassVar[str] = "shield"
    summary: ClassVar[str] = "mend texts before the model sees them, without any training: shield(normalise+restore)"


METHODS: dict[str, type[Method]] = {kind.name: kind for kind in (Augment, Plm, Pp, OnAttacks, Shielding)}


def parse_methods(given: str | Method | Sequence[str | Method]) -> tuple[Method, ...]:
    """Returns the methods that a text or a list names, such as "augment,shield(fast)".

    Raises ValueError for unknown names and options, and for a method that is there twice.
    """
    many = [given] if isinstance(given, str | Method) else list(given)
    found = [method for one in many for method in (_parsed(one) if isinstance(one, str) else [one])]
    if not found:
        raise ValueError(f"expected at least one of {', '.join(METHODS)} for harden.methods, got none")
    for method in found:
        if not isinstance(method, Method):
            raise TypeError(f"expected the name of a method ({', '.join(METHODS)}), got {type(method).__name__}")
        if sum(other.name == method.name for other in found) > 1:
            raise ValueError(f"expected each method once for harden.methods, got {method.name} more than once")
    return tuple(found)


def _parsed(text: str) -> Iterable[Method]:
    return [parse_method(part) for part in split_outside(text, ",") if part.strip()]


def parse_method(spec: str) -> Method:
    """Returns the method of a spec such as `attack(deepwordbug, tt-pwws, gamma=0.5)`."""
    name, bracket, rest = (part.strip() for part in spec.strip().partition("("))
    kind = METHODS[known_name(name, METHODS, "a method")]
    if not bracket:
        return kind()
    if not rest.endswith(")"):
        raise ValueError(f"expected {name}(...) for a method, got {spec.strip()!r}")
    bare, options = _inside(rest[:-1])
    known = {each.name: each for each in fields(kind)}
    for option in options:
        known_name(option, known, f"an option of {name}")
    if bare and kind.what in options:
        raise ValueError(f"expected {kind.what} once for {name}, got it twice in {spec.strip()!r}")
    values: dict[str, Any] = {kind.what: ", ".join(bare)} if bare else {}
    for option, text in options.items():
        values[option] = _value(text, f"{name}.{option}", type(known[option].default))
    return kind(**values)


def _inside(text: str) -> tuple[list[str], dict[str, str]]:
    """What stands in brackets: texts without a name, and options with theirs."""
    bare, options = [], {}
    for part in split_outside(text, ","):
        named = NAMED.match(part.strip())
        if named:
            key, _, value = part.partition("=")
            options[key.strip()] = value.strip()
        elif part.strip():
            bare.append(part.strip().strip("'\""))
    return bare, options


def _value(text: str, what: str, kind: type) -> Any:
    """Reads an option; text needs no quotes."""
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        found = text
    if kind is float and isinstance(found, int) and not isinstance(found, bool):
        found = float(found)
    if not isinstance(found, kind):
        words = {float: "a number", int: "a whole number", bool: "True or False", str: "text"}
        raise ValueError(f"expected {words[kind]} for {what}, got {text!r}")
    return found


# the sorts of change that a perturbation makes: to a model that was trained on one, others of its sort are not new
SORTS: dict[str, frozenset[str]] = {
    "inner-shuffle": frozenset({"order"}), "full-shuffle": frozenset({"order"}),
    "intrude": frozenset({"inserted"}), "invisible": frozenset({"inserted"}), "segment": frozenset({"spaces"}),
    "disemvowel": frozenset({"left out"}), "truncate": frozenset({"left out"}),
    "keyboard": frozenset({"keys"}), "natural": frozenset({"keys", "sound"}), "phonetic": frozenset({"sound"}),
    "typo": frozenset({"keys", "order", "inserted", "left out"}),
    "visual": frozenset({"glyphs"}), "homoglyph": frozenset({"glyphs"}), "glyph": frozenset({"glyphs"}),
    "synonym": frozenset({"words"}), "embedding": frozenset({"words"}), "contextual": frozenset({"words"}),
    "syntax": frozenset({"sentences"}), "paraphrase": frozenset({"sentences", "words"}),
}  # fmt: skip


def sorts_of(perturbation: Perturbation) -> frozenset[str]:
    """The sorts of change that a perturbation makes; its own name where nothing is of its sort. Of a combination, those of all
    parts.
    """
    parts = getattr(perturbation, "parts", ())
    if parts:
        return frozenset[str]().union(*map(sorts_of, parts))
    return SORTS.get(perturbation.name, frozenset({perturbation.name}))


def is_seen(perturbation: Perturbation, trained: Collection[Perturbation]) -> bool:
    """Whether a model that was trained on some perturbations knows changes of this sort. In doubt it does: what is reported as
    unseen must be.
    """
    return any(sorts_of(perturbation) & sorts_of(other) for other in trained)
