from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class SkyRLTrainConfig:
    @staticmethod
    def from_cli_overrides(chosen: dict[str, Any]) -> Any:
        own = {key.removeprefix("trainer."): value for key, value in chosen.items() if key.startswith("trainer.")}
        return SimpleNamespace(options=chosen, trainer=SimpleNamespace(tags=None, **own))
