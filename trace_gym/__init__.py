"""trace_gym: seeded, verifiable training environments for the capabilities that an LLM agent lacks.

Importing it registers every environment with gymnasium, as ``trace/<name>-v<version>``.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# In a source checkout `trainers`, `templates` and `generated_envs` are sibling folders (pyproject.toml
# maps them here when it builds); this finds them without an install.
_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "generated_envs").is_dir():
    __path__.append(str(_checkout))

if TYPE_CHECKING:
    from trace_gym.episode import Episode
    from trace_gym.registry import add_folder, load, names, scenarios
    from trace_gym.types import Call, Say, Scenario, Score
    from trace_gym.world import World

__all__ = ["Call", "Episode", "Say", "Scenario", "Score", "World", "add_folder", "load", "names", "scenarios"]

_rooms = {
    "Call": "types",
    "Episode": "episode",
    "Say": "types",
    "Scenario": "types",
    "Score": "types",
    "World": "world",
    "add_folder": "registry",
    "load": "registry",
    "names": "registry",
    "scenarios": "registry",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first used."""
    if name not in _rooms:
        raise AttributeError(f"module 'trace_gym' has no attribute {name!r}")
    return getattr(import_module(f"trace_gym.{_rooms[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


from trace_gym import registration as _registration  # it needs the path that is set above

_registration.refresh()
