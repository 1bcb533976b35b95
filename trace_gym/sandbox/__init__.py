"""Linter and sandbox for environment modules that are not trusted, such as modules written by a language model."""

from trace_gym.sandbox.layers import LAYERS, Layer
from trace_gym.sandbox.limited_linter import lint_source
from trace_gym.sandbox.limits import Limits
from trace_gym.sandbox.lint_rules import RULES, LintViolation, rules_table
from trace_gym.sandbox.one_shot import layers, require_isolation, validate_sandboxed
from trace_gym.sandbox.sandbox import Sandbox
from trace_gym.sandbox.sandboxed_episode import SandboxedWorld
from trace_gym.sandbox.unadmitted import check, describe, start_sandboxed_episode

__all__ = [
    "LAYERS",
    "RULES",
    "SandboxedWorld",
    "LintViolation",
    "Layer",
    "Limits",
    "Sandbox",
    "start_sandboxed_episode",
    "check",
    "validate_sandboxed",
    "describe",
    "layers",
    "rules_table",
    "require_isolation",
    "lint_source",
]
