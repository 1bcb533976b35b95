"""Sandbox: code that a language model wrote is looked at, and then run where it can do no harm."""

from trace_gym.sandbox.bounded import scan
from trace_gym.sandbox.confine import Sandbox
from trace_gym.sandbox.confining import confined_validate, layers, require_isolation
from trace_gym.sandbox.layers import LAYERS, Layer
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.rules import RULES, Fault, markdown
from trace_gym.sandbox.session import ConfinedWorld
from trace_gym.sandbox.unadmitted import begin_confined, check, describe

__all__ = [
    "LAYERS",
    "RULES",
    "ConfinedWorld",
    "Fault",
    "Layer",
    "Limits",
    "Sandbox",
    "begin_confined",
    "check",
    "confined_validate",
    "describe",
    "layers",
    "markdown",
    "require_isolation",
    "scan",
]
