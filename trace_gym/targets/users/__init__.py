"""Scripted users: rule-based, deterministic customers who answer free-form messages of an agent."""

from trace_gym.targets.users.scripted import ScriptedUser

__all__ = ["ScriptedUser"]
