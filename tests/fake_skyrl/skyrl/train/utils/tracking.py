from __future__ import annotations

from typing import Any


class Tracking:
    def __init__(self, project_name: str, experiment_name: str, backend: str, config: Any, tags: Any) -> None:
        self.backend = backend

    def log(self, data: dict[str, Any], step: int, commit: bool = False) -> None:
        print(f"step {step}: {data}")
