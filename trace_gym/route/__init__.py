"""Routing: which adapter, if any, a conversation needs. Importing it does not import torch."""

from trace_gym.route.measure import Routing, accuracy
from trace_gym.route.options import description_of, options_for
from trace_gym.route.prompt import BASE, NO_SKILL, Option
from trace_gym.route.router import Choice, LogitRouter, Router

__all__ = [
    "BASE",
    "NO_SKILL",
    "Choice",
    "LogitRouter",
    "Option",
    "Router",
    "Routing",
    "accuracy",
    "description_of",
    "options_for",
]
