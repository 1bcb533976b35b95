"""Language model that rewords the messages of scripted users, with a check that their meaning stays the same."""

from trace_gym.user_model.check import problems
from trace_gym.user_model.language import LanguageUser

__all__ = ["LanguageUser", "problems"]
