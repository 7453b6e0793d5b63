"""A recipe: a function that returns an attack."""

from __future__ import annotations

from scuff.attacks import Attack


def hasty(proposals: int = 3) -> Attack:
    """Slips of the finger on the words that matter most."""
    return Attack.of(
        name="hasty",
        paper="none",
        goal="untargeted",
        perturbations=[f"{proposals}*keyboard"],
        search="delete",
        constraints=["stop-words", "changed(share=0.2, floor=1)"],
    )
