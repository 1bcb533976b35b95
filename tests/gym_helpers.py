"""Helpers for the tests of the gymnasium adapter."""

from __future__ import annotations

from typing import Any

import gymnasium

from trace_gym.adapters.gymnasium import TraceEnv
from trace_gym.chat_formats import FORMATS
from trace_gym.types import Call

GYM_ID = "trace/library-loans-v0"


MIXTURE_ID = "trace/toy-mixture-v0"


def written(env: TraceEnv, line: str = "oracle", style: str = "hermes") -> list[str]:
    """An expert's turns as text."""
    steps = list(getattr(env.episode.start, line)())
    return [FORMATS[style].render(s) if isinstance(s, Call) else s.text for s in steps]


def make(gym_id: str = GYM_ID, **options: Any) -> TraceEnv:
    env = gymnasium.make(gym_id, **options).unwrapped
    assert isinstance(env, TraceEnv)
    return env
