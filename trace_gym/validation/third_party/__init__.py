"""Validation of third-party environments, which uses only their prompts, observations and rewards.

Environments of Gymnasium, skyrl-gym, reasoning-gym, OpenEnv and verifiers, and tasks of Inspect are supported.
"""

from trace_gym.validation.third_party.black_box import BlackBox, BlackBoxRollout, TurnResponse, run_black_box
from trace_gym.validation.third_party.black_box_context import BlackBoxContext
from trace_gym.validation.third_party.checks import BLACK_BOX_CHECKS
from trace_gym.validation.third_party.uri import SCHEMES, is_third_party, open_box

__all__ = [
    "BLACK_BOX_CHECKS",
    "SCHEMES",
    "BlackBox",
    "BlackBoxContext",
    "BlackBoxRollout",
    "TurnResponse",
    "is_third_party",
    "open_box",
    "run_black_box",
]
