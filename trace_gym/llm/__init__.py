"""Clients of language models: endpoints, recordings, and files that a person or another program answers."""

from trace_gym.llm.answers import ask, ask_for
from trace_gym.llm.budget import Budget, Price
from trace_gym.llm.extract import code_in, json_in
from trace_gym.llm.ledger import Usage
from trace_gym.llm.model_uri import Resolved, open_model_uri
from trace_gym.llm.request import Completion, Model, ModelRequest

__all__ = [
    "Budget",
    "Completion",
    "Model",
    "Price",
    "ModelRequest",
    "Resolved",
    "Usage",
    "ask",
    "ask_for",
    "code_in",
    "json_in",
    "open_model_uri",
]
