"""A model, data and settings brought together: the room that conducts all others."""

from .api import Result, assert_robust, dry_run, evaluate, report, resume
from .augment import augment
from .config import Config
from .settings import read_config

__all__ = ["Config", "Result", "assert_robust", "augment", "dry_run", "evaluate", "read_config", "report", "resume"]
