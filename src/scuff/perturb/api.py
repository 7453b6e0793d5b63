"""Lists of strings in, lists of strings out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, overload

from ..text import Edit
from .base import Perturbation
from .plan import Plan
from .protect import Protect

if TYPE_CHECKING:
    from typing_extensions import Unpack

Attack = str | Perturbation


class Options(TypedDict, total=False):
    """Keyword arguments of `perturb`."""

    seed: int
    draw: int
    selection: str | None
    protect: Sequence[str] | Protect
    ids: Sequence[object] | None


@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str,
    attack: Attack,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **options: Unpack[Options],
) -> str: ...
@overload
def perturb(
    texts: Sequence[str],
    attack: Attack,
    level: str | float = ...,
    *,
    return_edits: Literal[False] = ...,
    **options: Unpack[Options],
) -> list[str]: ...
@overload
def perturb(  # type: ignore[overload-overlap]
    texts: str, attack: Attack, level: str | float = ..., *, return_edits: Literal[True], **options: Unpack[Options]
) -> tuple[str, list[Edit]]: ...
@overload
def perturb(
    texts: Sequence[str],
    attack: Attack,
    level: str | float = ...,
    *,
    return_edits: Literal[True],
    **options: Unpack[Options],
) -> tuple[list[str], list[list[Edit]]]: ...
def perturb(
    texts: str | Sequence[str],
    attack: Attack,
    level: str | float = "mid",
    *,
    seed: int = 0,
    draw: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    ids: Sequence[object] | None = None,
    return_edits: bool = False,
) -> object:
    """Perturb texts: a string in, a string out; a list in, a list out.

    attack: a name (`scuff list`), a spec such as "keyboard(layout='qwertz')" or "intrude|segment", or a Perturbation.
    level: low, mid, high, or the share of words to attack. draw: another number, another random version.
    selection: quota, coin, each, below or edits (see Perturbation.choose). protect: what must stay, e.g. ["urls", "word:Scuff"].
    ids: names of the texts; without them equal texts are perturbed alike. return_edits: also what was changed.
    """
    plan = Plan.of(attack, level, seed, selection, protect)
    changes: list[list[Edit]] = []
    many = [texts] if isinstance(texts, str) else list(texts)
    new = plan.texts(many, ids=ids, draw=draw, edits=changes if return_edits else None)
    if isinstance(texts, str):
        return (new[0], changes[0]) if return_edits else new[0]
    return (new, changes) if return_edits else new


def perturb_tokens(
    sentences: Sequence[Sequence[str]],
    attack: Attack,
    level: str | float = "mid",
    *,
    seed: int = 0,
    draw: int = 0,
    selection: str | None = None,
    protect: Sequence[str] | Protect = (),
    ids: Sequence[object] | None = None,
) -> list[list[str]]:
    """Perturb sentences that are cut into tokens: every token stays one token, so that its tag stays right."""
    return Plan.of(attack, level, seed, selection, protect).tokens(sentences, ids=ids, draw=draw)
