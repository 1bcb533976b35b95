"""Writing files so that none is ever there by half."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write the whole file or nothing; makes the folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=path.name, delete=False, encoding="utf-8") as file:
        try:
            file.write(text)
        except BaseException:
            Path(file.name).unlink()
            raise
    os.chmod(file.name, 0o644)  # a temporary file is private
    os.replace(file.name, path)
