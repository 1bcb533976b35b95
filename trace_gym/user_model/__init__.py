"""Language model that rewords the messages of scripted users, and the check that the meaning stays the same."""

from trace_gym.user_model.check import problems
from trace_gym.user_model.language import LanguageUser

__all__ = ["LanguageUser", "problems"]
