"""Exploration of a live target: episodes recorded from its MCP server, and its base world compared with it."""

from trace_gym.explore.compare import Comparison, compare
from trace_gym.explore.record import Recorder, Recording, record

__all__ = ["Comparison", "Recorder", "Recording", "compare", "record"]
