"""Validation of environments: the properties that an environment must satisfy before a policy is trained on it."""

from trace_gym.validation.context import PROFILES, Context, ValidationInputs
from trace_gym.validation.properties import PROPERTIES, CheckFailed, Passed, Property, Skipped, property_check
from trace_gym.validation.report import listing, markdown, read, render
from trace_gym.validation.runner import validate
from trace_gym.validation.source import begin, begin_variant, load

__all__ = [
    "PROFILES",
    "PROPERTIES",
    "CheckFailed",
    "Context",
    "ValidationInputs",
    "Passed",
    "Skipped",
    "Property",
    "begin",
    "begin_variant",
    "listing",
    "load",
    "markdown",
    "property_check",
    "read",
    "render",
    "validate",
]
