"""Review of an environment by a language model. Its claims are tested, and a second model judges the evidence."""

from trace_gym.review.claims import Review, Verdicts
from trace_gym.review.process import add_review, review

__all__ = ["Review", "Verdicts", "add_review", "review"]
