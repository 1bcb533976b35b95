from typing import Any


def validate_cfg(cfg: Any) -> None:
    assert cfg.trainer.strategy == "fsdp"
