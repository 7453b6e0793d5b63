"""A model, data and settings brought together: the room that conducts all others."""

from .again import report, resume
from .api import Result, assert_robust, dry_run, evaluate, resume_evaluation
from .attack import attack, dry_attack, report_attack, resume_attack
from .attack_result import AttackResult
from .augment import augment
from .config import Config
from .recipe import AttackConfig
from .settings import read_config

__all__ = [
    "AttackConfig", "AttackResult", "Config", "Result", "assert_robust", "attack", "augment", "dry_attack", "dry_run", "evaluate",
    "read_config", "report", "report_attack", "resume", "resume_attack", "resume_evaluation",
]  # fmt: skip
