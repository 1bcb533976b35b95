"""Synthesis of environments: an environment is planned, written as a Python module, validated and admitted."""

from trace_gym.synthesis.admission import synthesize
from trace_gym.synthesis.author import Author
from trace_gym.synthesis.repair_loop import ValidationConfig

__all__ = [
    "Author",
    "ValidationConfig",
    "synthesize",
]
