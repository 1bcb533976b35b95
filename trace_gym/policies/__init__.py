"""Policies, which choose the assistant's turns in an episode.

The modules `openai` and `hf` have optional dependencies; import them explicitly.
"""

from trace_gym.policies.base import BatchPolicy, Policy
from trace_gym.policies.scripted import Ablated, ExpertMixture, Idle, Oracle, Random

__all__ = ["Ablated", "BatchPolicy", "Idle", "ExpertMixture", "Oracle", "Policy", "Random"]
