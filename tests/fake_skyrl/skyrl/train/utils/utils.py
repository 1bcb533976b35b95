from typing import Any


def initialize_ray(cfg: Any) -> None:
    pass
