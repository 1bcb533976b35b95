"""Base class for the settings of trainers built on an external library. Importing this module does not import torch."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import model_validator

from trace_gym.trainers.config import GRPOConfig


class ExternalGRPOConfig(GRPOConfig):
    """GRPO settings for a trainer that is built on an external library.

    The names and defaults are those of `GRPOConfig`. If the library does not support a setting, a value other than the
    default is an error.
    """

    SUPPORTED: ClassVar[frozenset[str]] = frozenset()
    """Settings that have an effect. A setting added to `GRPOConfig` is rejected until it is listed here."""
    ADVANTAGES: ClassVar[dict[str, Any]] = {}
    """Mapping of `advantage` to a setting of the library."""

    @model_validator(mode="after")
    def _supported(self) -> Self:
        fields = type(self).model_fields
        unsupported = [
            key
            for key, field in fields.items()
            if key not in self.SUPPORTED and getattr(self, key) != field.get_default(call_default_factory=True)
        ]
        if unsupported:
            raise ValueError(
                f"the trainer {self.trainer} does not support {', '.join(unsupported)}. Remove it, or use the trainer "
                "torch_grpo"
            )
        if self.advantage not in self.ADVANTAGES:
            raise ValueError(
                f"the trainer {self.trainer} does not support this advantage: found {self.advantage!r}, expected one "
                f"of {', '.join(self.ADVANTAGES)}. Choose another advantage, or use the trainer torch_grpo"
            )
        return self
