"""The shipped shields by name, and specs: `normalise+restore`, `restore(tier='context')`, `my_file.py:Mine`."""

from __future__ import annotations

from ..specs import Family, split_outside
from .base import Shield
from .chain import Chain
from .deobfuscate import Deobfuscate
from .normalise import Normalise
from .restore import Restore

NAMES: dict[str, type[Shield]] = {"normalise": Normalise, "deobfuscate": Deobfuscate, "restore": Restore}
CHAINS: dict[str, str] = {  # names of whole chains
    "fast": "normalise+deobfuscate+restore",
    "context": "normalise+deobfuscate+restore(tier='context')",
}
DEFAULT = "fast"  # of `scuff shield` and `scuff.shield`
FAMILY: Family[Shield] = Family(
    "a shield", "scuff.shields", Shield, NAMES, CHAINS, "; subclass scuff.shields.Shield and write mend(corpus)"
)


def parse(spec: str | Shield) -> Shield:
    """Builds the shield of a spec; one that is built already is returned as it is. `a+b`: one after the other."""
    if not isinstance(spec, str):
        return FAMILY.build(spec)
    parts: list[Shield] = []
    for single in split_outside(spec, "+"):
        name, options = single.partition("(")[0].strip(), "(" in single
        if name in CHAINS and options:
            raise ValueError(f"expected no options for the chain {name} ({CHAINS[name]}), got {single.strip()!r}")
        made = parse(CHAINS[name]) if name in CHAINS else FAMILY.build(single)
        parts += made.parts if isinstance(made, Chain) else (made,)
    return parts[0] if len(parts) == 1 else Chain(tuple(parts))
