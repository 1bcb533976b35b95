"""Sandbox: code that a language model wrote is looked at, and then run where it can do no harm."""

from trace_gym.sandbox.confine import Sandbox, confined_validate, layers, require_isolation
from trace_gym.sandbox.layers import LAYERS, Layer
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.rules import RULES, Fault, markdown
from trace_gym.sandbox.scan import scan

__all__ = [
    "LAYERS",
    "RULES",
    "Fault",
    "Layer",
    "Limits",
    "Sandbox",
    "confined_validate",
    "layers",
    "markdown",
    "require_isolation",
    "scan",
]
