"""The language model of an agent: one set of settings that every stage uses, and the functions that load the model."""

from trace_gym.models.loading import load_policy, load_weights
from trace_gym.models.settings import LAB, ModelSettings

__all__ = ["LAB", "ModelSettings", "load_policy", "load_weights"]
