"""The language of scripted users and verifiers: dialogue acts, and refusals and claims about records."""

from trace_gym.targets.dialogue.classifier import trained
from trace_gym.targets.dialogue.recognition import Act, acts, gist
from trace_gym.targets.dialogue.refusals import claims_done, refused, refuses

__all__ = ["Act", "acts", "claims_done", "gist", "refused", "refuses"]

trained()  # read the weights now: while a generated environment runs, the sandbox lets nobody open a file
