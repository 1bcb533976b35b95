"""trace_gym: seeded, verifiable training environments for the capabilities that an LLM agent lacks.

The public names are in `__all__`. Each is imported when it is first used, so ``import trace_gym`` is fast. The import
registers every environment with Gymnasium as ``trace/<name>-v<version>``.

PYTEST_DONT_REWRITE: this marker prevents a pytest warning if the package is imported before pytest starts. The warning
would occur because the distribution also contains a pytest plugin.
"""

import importlib as _importlib
import pathlib as _pathlib
import typing

__version__ = "0.1.0"

# In a source checkout, `trainers`, `templates` and `generated_envs` are siblings of this package. pyproject.toml maps
# them into the package when it is built; here the path of the package is extended instead.
_checkout = _pathlib.Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file() and (_checkout / "generated_envs").is_dir():
    __path__.append(str(_checkout))

if typing.TYPE_CHECKING:
    from trace_gym.adapters.gymnasium import make
    from trace_gym.diagnosis import diagnose
    from trace_gym.episode import Episode
    from trace_gym.evaluation import evaluate
    from trace_gym.registry import add_folder, list_environments, load_world, scenarios, start_episode
    from trace_gym.rollouts import rollout
    from trace_gym.route import LogitRouter, Router
    from trace_gym.synthesis import synthesize
    from trace_gym.trainers.torch_grpo import train
    from trace_gym.types import Call, Check, Interface, Say, Scenario, Score, Trajectory
    from trace_gym.validation import validate
    from trace_gym.world import ToolError, World, tool

__all__ = [
    "Call",
    "Check",
    "Episode",
    "Interface",
    "LogitRouter",
    "Router",
    "Say",
    "Scenario",
    "Score",
    "ToolError",
    "Trajectory",
    "World",
    "add_folder",
    "diagnose",
    "evaluate",
    "list_environments",
    "load_world",
    "make",
    "rollout",
    "scenarios",
    "start_episode",
    "synthesize",
    "tool",
    "train",
    "validate",
]

_modules = {
    "adapters.gymnasium": ("make",),
    "diagnosis": ("diagnose",),
    "episode": ("Episode",),
    "evaluation": ("evaluate",),
    "registry": ("add_folder", "list_environments", "load_world", "scenarios", "start_episode"),
    "rollouts": ("rollout",),
    "route": ("LogitRouter", "Router"),
    "synthesis": ("synthesize",),
    "trainers.torch_grpo": ("train",),
    "types": ("Call", "Check", "Interface", "Say", "Scenario", "Score", "Trajectory"),
    "validation": ("validate",),
    "world": ("ToolError", "World", "tool"),
}
_module_of = {name: module for module, names in _modules.items() for name in names}


def __getattr__(name: str) -> typing.Any:
    if name not in _module_of:
        raise AttributeError(f"module 'trace_gym' has no attribute {name!r}")
    return getattr(_importlib.import_module(f"trace_gym.{_module_of[name]}"), name)


def __dir__() -> list[str]:
    return __all__


from trace_gym import registration as _registration  # it needs the path that is set above

_registration.refresh()
