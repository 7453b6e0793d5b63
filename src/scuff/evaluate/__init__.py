"""The evaluation protocol: cases at several degrees, trials on disk, and every number from the trials."""

from .evaluation import Evaluation, Job
from .protocol import CASES, Protocol
from .score import DEGREES, final_score
from .trials import BadRun, Folder, NoAnswers
from .truth import Truth

__all__ = ["CASES", "DEGREES", "BadRun", "Evaluation", "Folder", "Job", "NoAnswers", "Protocol", "Truth", "final_score"]
