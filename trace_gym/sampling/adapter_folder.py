"""Folders of LoRA adapters in the format of peft."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trace_gym.errors import ReadError


def read_adapter_config(folder: Path) -> dict[str, Any]:
    """Return the content of the file ``adapter_config.json`` of an adapter.

    Raises:
        ReadError: The folder is not an adapter.
    """
    try:
        config = json.loads((folder / "adapter_config.json").read_bytes())
        return dict(config)
    except (OSError, ValueError, TypeError) as error:
        raise ReadError(f"{folder} is not an adapter folder: {error}") from None
