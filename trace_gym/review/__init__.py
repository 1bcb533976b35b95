"""Checks of an environment by language models: a review of its module, and rollouts of a solver.

The evidence of both is executed, and a second conversation with a language model, the reader, judges it.
"""

from trace_gym.review.claims import Review, Verdicts
from trace_gym.review.model_checks import NO_CHECKERS, Checkers, add_model_checks
from trace_gym.review.process import review
from trace_gym.review.solving import solve

__all__ = ["NO_CHECKERS", "Checkers", "Review", "Verdicts", "add_model_checks", "review", "solve"]
