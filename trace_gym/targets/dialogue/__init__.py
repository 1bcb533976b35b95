"""Language understanding for scripted users and verifiers: dialogue acts, refusals, and claims about records."""

from trace_gym.targets.dialogue.classifier import trained
from trace_gym.targets.dialogue.recognition import Act, acts, gist
from trace_gym.targets.dialogue.refusals import claims_done, refused, refuses

__all__ = ["Act", "acts", "claims_done", "gist", "refused", "refuses"]

trained()  # load the weights at import, because sandboxed environments cannot open files
