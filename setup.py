"""The description for package indexes, which pyproject.toml cannot express.

Links in README.md are relative to the repository, and a package index cannot resolve them. They become absolute where
`project.urls` names the repository as `Source`, and plain text otherwise: every linked page is part of the source
distribution.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
FENCE = re.compile(r"^(```.*?^```$)", flags=re.S | re.M)
RELATIVE = re.compile(r"\[([^\]]+)\]\((?!https?://|#)([^)]+)\)")


def description(readme: str, source: str = "") -> str:
    """Return the text of README.md without relative links; code blocks stay as they are."""

    def replaced(link: re.Match[str]) -> str:
        text, path = link[1], link[2]
        if source:
            return f"[{text}]({source.rstrip('/')}/blob/main/{path})"
        return f"`{path}`" if text.strip("`") == path else f"{text} (`{path}`)"

    return "".join(part if part.startswith("```") else RELATIVE.sub(replaced, part) for part in FENCE.split(readme))


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    setup(
        long_description=description(
            (ROOT / "README.md").read_text(encoding="utf-8"), project.get("urls", {}).get("Source", "")
        ),
        long_description_content_type="text/markdown",
    )
