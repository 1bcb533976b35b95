"""Policies: whoever takes the assistant's turns. `openai` and `hf` are imported by those who use them."""

from trace_gym.policies.base import BatchPolicy, Policy
from trace_gym.policies.scripted import Ablated, Idle, Mixture, Oracle, Random

__all__ = ["Ablated", "BatchPolicy", "Idle", "Mixture", "Oracle", "Policy", "Random"]
