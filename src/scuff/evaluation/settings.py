"""The settings of an evaluation, from which flags, keywords and keys of settings files come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..metrics import parse_metric
from ..runs.settings import MODEL, Settings, setting
from .dimensions import ACCESS, DEFAULT, TAGS, Dimension
from .protocol import ROUNDING, Rounding

SELECTIONS = ("quota", "coin", "each", "all")  # of a strength; below and edits are what degrees are made of


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """All settings of an evaluation; `scuff evaluate --help` lists them."""

    protocol: str = setting(
        "robtest",
        "robtest (default), or zeroe: its ten perturbations at low, mid and high, one case each",
        choices=("robtest", "zeroe"),
    )
    as_published: bool = setting(
        False,
        "as the protocol's paper has it: perturbations, rounding, number of cases, final score, sides; what you set "
        "yourself stays, and what differs even so is listed",
    )
    dimensions: tuple[str, ...] = setting(
        (),
        "what is measured, see above; default: all of RobTest's that can run, which `default` names, too",
        metavar="DIMENSION",
        names_parts=True,
    )
    tag: str | None = setting(
        None, "only dimensions of changes that anyone makes (general), or that evaders make (malicious)", choices=TAGS
    )
    access: tuple[str, ...] = setting(
        ("rule",),
        "what the attacker sees: nothing (rule, default), the model's scores, its gradients; several are compared",
        choices=ACCESS,
        flags=("--access", "--setting"),
        old_name="setting",
    )
    degrees: tuple[float, ...] = setting(
        (), "how far cases may be from their originals; default: 0.05 0.1 0.2 0.3 0.4 0.5 0.6", metavar="D"
    )
    cases: int | None = setting(None, "cases per example and degree; default 10 (the paper: 100)", metavar="K")
    rounding: Rounding | None = setting(
        None,
        "of the number of words or characters that a degree stands for: down (default), so that none is above it, or up, as "
        "RobTest's code",
        choices=ROUNDING,
    )
    selection: str | None = setting(
        None,
        "protocol zeroe: how words are chosen, as for `scuff perturb`: quota, coin, each or all",
        metavar="HOW",
        flags=("--select",),
        alias="select",
    )
    width: float | None = setting(
        None, "adaptive: add cases only until the 95% interval is narrower than this", metavar="W"
    )
    beta: float = setting(0.5, "how much high degrees weigh in the final score; default 0.5")
    validity: str | None = setting(
        None,
        "shares of valid cases that your raters found (`scuff judge import --weights`): they weigh the degrees in the "
        "validity-weighted final score, in place of RobTest's Table 3",
        metavar="FILE",
    )
    metric: str | None = setting(
        None,
        "computes the scores: macro-f1, auc, ... (`scuff list metrics`); default: by the task",
        metavar="SPEC",
        names_parts=True,
    )
    encoder: str | None = setting(
        None,
        "measures the degree of syntax and distraction: a sentence encoder or chrf; default: MiniLM if installed "
        "(scuff[meaning]), else chrf",
        metavar="MODEL",
    )
    predictions: tuple[str, ...] = setting(
        (), "files of answers collected before, instead of a model", group=MODEL, metavar="FILE"
    )
    max_queries: int | None = setting(
        None, "make fewer cases, so that the model is asked at most N times", group=MODEL, metavar="N", least=1
    )

    @classmethod
    def of(cls, **settings: Any) -> EvaluationSettings:
        """Returns the settings with these names, as `Settings.of`; dimensions may be specs, `Dimension`s or perturbations."""
        given = settings.get("dimensions")
        if given is not None:
            many = given if isinstance(given, list | tuple) else [given]
            settings["dimensions"] = [each.full_spec if isinstance(each, Dimension) else each for each in many]
        return super().of(**settings)

    def check(self) -> None:
        super().check()
        if not self.access or len(set(self.access)) < len(self.access):
            raise ValueError(f"expected each access once, and at least one, got {', '.join(self.access) or 'none'}")
        if self.selection is not None and self.selection not in SELECTIONS:
            raise ValueError(f"expected {', '.join(SELECTIONS)} for selection, got {self.selection!r}")
        if self.selection is not None and self.protocol != "zeroe":
            raise ValueError(
                "expected no selection for the protocol robtest, got one: there the degrees choose how many"
            )
        if self.rounding is not None and self.protocol == "zeroe":
            raise ValueError("expected no rounding for the protocol zeroe, got one: it has levels, not degrees")
        if self.metric:
            parse_metric(self.metric)

    @property
    def guided(self) -> bool:
        """Whether some dimension needs the victim's scores or gradients to make its cases."""
        named = (Dimension.parse(name).access for name in self.dimensions if name != DEFAULT)
        return any(access != "rule" for access in (*self.access, *named))
