"""trace_gym: seeded, verifiable training environments for the capabilities that an LLM agent lacks."""

from pathlib import Path

__version__ = "0.1.0"

# In a source checkout `trainers`, `templates` and `generated_envs` are sibling folders (pyproject.toml
# maps them here when it builds); this finds them without an install.
_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "generated_envs").is_dir():
    __path__.append(str(_checkout))
