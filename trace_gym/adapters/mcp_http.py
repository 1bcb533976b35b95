"""Alias of `trace_gym.adapters.mcp.http` for code that uses the earlier import path."""

from trace_gym.adapters.mcp.http import app

__all__ = ["app"]
