"""Anybody's environments: of Gymnasium, skyrl-gym, reasoning-gym or OpenEnv, asked through text and reward alone."""

from trace_gym.validate.foreign.address import SCHEMES, is_foreign, open_box
from trace_gym.validate.foreign.asked import FOREIGN, Asked, foreign
from trace_gym.validate.foreign.box import Attempt, BlackBox, Turn, attempt

__all__ = [
    "FOREIGN",
    "SCHEMES",
    "Asked",
    "Attempt",
    "BlackBox",
    "Turn",
    "attempt",
    "foreign",
    "is_foreign",
    "open_box",
]
