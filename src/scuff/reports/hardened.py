"""What `scuff.harden` returns, and the files that it writes from the proof: proof.json, comparison.html, the model card."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.dataset import Task
from ..runs.folder import Folder
from ..runs.proof import Change, Proof
from .comparison import write_comparison
from .model_card import model_card
from .proof import proof_table, proof_words
from .results import Result


@dataclass(frozen=True, repr=False)
class HardenResult:
    """A hardened model and the proof. `print(result)` shows the table; `proof` has every number.

    model: the folder of the new model, or the object if one was given; the first model if nothing was trained. shield: the spec
    of the shield in front of it, or None. before, after: the two evaluations.
    """

    proof: Proof
    model: Any
    shield: str | None
    before: Result
    after: Result
    folder: str

    def __str__(self) -> str:
        return proof_table(self.proof)

    def __repr__(self) -> str:
        return (
            f"<HardenResult of {self.proof['model']} in {self.folder}: {self.words[0] if self.words else 'no words'}>"
        )

    def _repr_html_(self) -> str:
        from .notebook import harden_html  # here: it loads what pages are made of

        return harden_html(self.proof)

    def to_pandas(self) -> Any:
        """Returns a DataFrame with a row per dimension, then the means and the clean score. Needs pandas."""
        from .frames import changes_frame

        return changes_frame(self.proof)

    @property
    def words(self) -> list[str]:
        """What was won and lost, a sentence each, the sum of it first."""
        return self.proof["words"]

    @property
    def clean(self) -> Change:
        """The change of the clean score: before, after, difference, interval."""
        return self.proof["comparison"]["clean"]

    @property
    def seen(self) -> Change | None:
        """The change of the mean over perturbations seen in training; None if none was measured."""
        group = self.proof["comparison"]["seen"]
        return group["average"] if group else None

    @property
    def unseen(self) -> Change | None:
        """The change of the mean over perturbations that the model has never seen; None if none was measured."""
        group = self.proof["comparison"]["unseen"]
        return group["average"] if group else None

    @property
    def attack(self) -> Change | None:
        """The change of the success rate of the attack; None if none was asked for."""
        found = self.proof["attack"]
        return found["success"] if found else None


def publish(
    proof: Proof, folder: Path, task: Task, model: Any, shield: str | None, before: Result, after: Result
) -> HardenResult:
    """Says what was won and lost, and writes comparison.html, the model card and, last, proof.json."""
    proof = {**proof, "words": proof_words(proof)}
    write_comparison(folder, proof)
    own = Path(model) if proof["trained"] and isinstance(model, str | Path) else folder
    hugging_face = (own / "tokenizer_config.json").is_file() or (own / "tokenizer.json").is_file()
    Folder(own).write(
        "README.md", model_card(proof, task, hugging_face=hugging_face, local=Path(proof["model"]).is_dir())
    )
    Folder(folder).write_json("proof.json", proof)
    return HardenResult(proof, model, shield, before, after, str(folder))
