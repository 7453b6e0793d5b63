"""Arguments that say what an evaluation measures."""

from __future__ import annotations

from typing import Any


def measured_arguments(group: Any) -> None:
    group.add_argument("--dimensions", nargs="+", metavar="DIMENSION", help="default: all of RobTest's that can run")
    group.add_argument(
        "--tag", choices=("general", "malicious"), help="only dimensions that stand for slips, or for evasion"
    )
    group.add_argument(
        "--setting",
        nargs="+",
        choices=("rule", "score", "gradient"),
        help="what the attacker sees: nothing (rule, default), the model's scores, its gradients; several are compared",
    )
    group.add_argument(
        "--mlm", metavar="MODEL", help="masked language model for contextual: a Hugging Face folder or id"
    )
    group.add_argument(
        "--encoder",
        metavar="MODEL",
        help="sentence encoder for degrees of syntax and distraction; default: MiniLM if installed (scuff[meaning]), else chrf",
    )
    group.add_argument("--degrees", nargs="+", type=float, metavar="D", help="default: 0.05 0.1 0.2 0.3 0.4 0.5 0.6")
    group.add_argument(
        "--cases", type=int, metavar="K", help="cases per example and degree; default 10 (the paper: 100)"
    )
    group.add_argument(
        "--width",
        type=float,
        metavar="W",
        help="adaptive: add cases only until the 95%% interval is narrower than this",
    )
    group.add_argument(
        "--protocol", choices=("robtest", "zeroe"), help="zeroe: the ten attacks at low, mid, high, one case each"
    )
    group.add_argument("--beta", type=float, help="how much high degrees weigh in the final score; default 0.5")
    group.add_argument("--protect", action="append", metavar="WHAT", help="leave alone, as for `scuff perturb`")
    group.add_argument("--seed", type=int)
