"""Files in, files out. The room between the disk and `perturb`."""

from .job import FORMATS, Input, perturb_file
from .streams import BadInput
from .zeroe import write_zeroe

__all__ = ["FORMATS", "BadInput", "Input", "perturb_file", "write_zeroe"]
