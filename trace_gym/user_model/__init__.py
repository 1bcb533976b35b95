"""The scripted user of a world with a language model that chooses the words."""

from trace_gym.user_model.check import problems
from trace_gym.user_model.language import LanguageUser

__all__ = ["LanguageUser", "problems"]
