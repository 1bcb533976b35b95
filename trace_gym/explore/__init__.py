"""Exploration of a live MCP server, to record episodes or to compare a base world with the server."""

from trace_gym.explore.compare import ToolComparison, compare
from trace_gym.explore.record import Recorder, Recording, record

__all__ = ["ToolComparison", "Recorder", "Recording", "compare", "record"]
