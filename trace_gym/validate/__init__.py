"""Validate: properties that every environment must hold before anything is trained on it."""

from trace_gym.validate.context import PROFILES, Context, Given
from trace_gym.validate.gate import validate
from trace_gym.validate.properties import PROPERTIES, Broken, Held, Inapplicable, Property, prop
from trace_gym.validate.report import listing, markdown, read, render
from trace_gym.validate.source import begin, load

__all__ = [
    "PROFILES",
    "PROPERTIES",
    "Broken",
    "Context",
    "Given",
    "Held",
    "Inapplicable",
    "Property",
    "begin",
    "listing",
    "load",
    "markdown",
    "prop",
    "read",
    "render",
    "validate",
]
