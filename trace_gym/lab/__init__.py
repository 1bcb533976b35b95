"""The built-in toy model: a tiny language model that makes valid tool calls, but lacks the capabilities to be trained.

With the toy model, a complete run works on a laptop without a download. It requires the ``lab`` extra (torch,
transformers, peft).
"""

from trace_gym.models.settings import LAB_FOLDER

BASE = LAB_FOLDER
"""The Hugging Face folder of the built-in toy model."""
