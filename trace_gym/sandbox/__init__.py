"""Linter and sandbox for environment modules that are not trusted, such as modules written by a language model.

The names are imported when they are first used, because the process of the linter requires only a part of the package.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from trace_gym.sandbox.layer_list import LAYERS, Layer
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

_module_of = {
    "LAYERS": "layer_list",
    "Layer": "layer_list",
    "LintViolation": "lint_rules",
    "Limits": "limits",
    "RULES": "lint_rules",
    "Sandbox": "sandbox",
    "SandboxedWorld": "sandboxed_episode",
    "check": "unadmitted",
    "describe": "unadmitted",
    "layers": "one_shot",
    "lint_source": "limited_linter",
    "require_isolation": "one_shot",
    "rules_table": "lint_rules",
    "start_sandboxed_episode": "unadmitted",
    "validate_sandboxed": "one_shot",
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _module_of:
        raise AttributeError(f"module 'trace_gym.sandbox' has no attribute {name!r}")
    return getattr(_importlib.import_module(f"trace_gym.sandbox.{_module_of[name]}"), name)
