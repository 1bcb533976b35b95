"""Routing: selection of the LoRA adapter for a conversation. Importing this package does not import torch."""

from trace_gym.route.options import description_of, options_for
from trace_gym.route.prompt import BASE, NO_SKILL, Option
from trace_gym.route.router import LogitRouter, Router, RoutingChoice
from trace_gym.route.routing_accuracy import Routing, accuracy

__all__ = [
    "BASE",
    "NO_SKILL",
    "RoutingChoice",
    "LogitRouter",
    "Option",
    "Router",
    "Routing",
    "accuracy",
    "description_of",
    "options_for",
]
