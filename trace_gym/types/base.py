"""Base class of all types that are written to disk. It can read older formats."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator

FORMAT_VERSION = 2
"""Version of the JSON format of manifests and reports. Version 1 is upgraded when it is read."""


class Record(BaseModel):
    """Base class of all types that are written to disk. Instances are immutable, and unknown fields raise an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    renamed_fields: ClassVar[Mapping[str, str]] = {}
    """Mapping of field names in older formats to the current field names."""

    @model_validator(mode="before")
    @classmethod
    def _upgrade(cls, data: Any) -> Any:
        """Rename the fields of an older format."""
        if cls.renamed_fields and isinstance(data, dict) and not cls.renamed_fields.keys().isdisjoint(data):
            return {cls.renamed_fields.get(key, key): value for key, value in data.items()}
        return data


def upgraded(version: int) -> int:
    """Return `FORMAT_VERSION` if a format version is supported.

    Raises:
        ValueError: The version is not supported.
    """
    if version not in range(1, FORMAT_VERSION + 1):
        raise ValueError(f"format version {version} is not supported: expected 1 to {FORMAT_VERSION}. Update trace-gym")
    return FORMAT_VERSION


def sha256(content: str | bytes) -> str:
    """Return the hex SHA-256 digest of bytes, or of text in UTF-8."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def to_jsonl(records: Iterable[Record]) -> str:
    """Return the records as JSON Lines, one record per line."""
    return "".join(r.model_dump_json() + "\n" for r in records)
