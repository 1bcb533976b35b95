"""Every environment as one of skyrl-gym, and the data sets that SkyRL trains on.

A row of a data set is one scenario. SkyRL samples it ``n_samples_per_prompt`` times, so that a group shares its
scenario, and rows of several environments may stand in one data set. Importing this module registers every
environment with skyrl-gym, under the ids that gymnasium knows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from trace_gym import registry
from trace_gym.adapters.gymnasium import WEIGHTS
from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, EnvNotFound, MissingExtra
from trace_gym.files import write
from trace_gym.score import RewardWeights, reward
from trace_gym.types import Message, Scenario

try:
    _gym: Any = import_module("skyrl_gym")
    _text: Any = import_module("skyrl_gym.envs.base_text_env")
except ImportError as error:
    raise MissingExtra(f"{error.name} is missing; pip install 'trace-gym[skyrl-gym]'") from None

Row = dict[str, Any]
"""One task: ``prompt`` and ``env_class``, which SkyRL reads, and what the environment is given."""

TOOLS = """

# Tools

You may call one or more functions to assist with the user query.

You are provided with function signatures within <tools></tools> XML tags:
<tools>
{tools}
</tools>

For each function call, return a json object with function name and arguments within <tool_call></tool_call> XML tags:
<tool_call>
{{"name": <function-name>, "arguments": <args-json-object>}}
</tool_call>"""
"""What the chat templates of Qwen 2.5 and Qwen 3 add to the system message for tools, word for word."""


class TraceEnv(_text.BaseTextEnv):  # type: ignore[misc]  # skyrl-gym has no types
    """One attempt at the scenario of a row; ``skyrl_gym.make("trace/<name>-v<version>", extras=row)`` builds it.

    An action is the text of an assistant turn. Whatever it holds is answered, never raised. The reward comes with
    the end and is 0 before. After `generator.max_turns` turns, or the environment's own limit if that is lower, the
    attempt is over and scored as it stands.

    SkyRL knows no attempt without a reward, so a fault of the environment is raised and stops the run.

    Args:
        env_config: What SkyRL holds for the environment under ``environment.skyrl_gym``; nothing of it is read.
        extras: The row without its prompt: ``scenario``, perhaps ``weights``, and ``max_turns``, which SkyRL adds.
        name: The environment or mixture that the scenario must belong to.

    Raises:
        ConfigError: The row names no scenario, or weights that do not exist; or there is no turn to spare.
        ScenarioError, EnvNotFound: The scenario does not exist, or is another environment's.
    """

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None, name: str = "") -> None:
        super().__init__()
        row = dict(extras or {})
        self.weights = _weights(row.get("weights", "default"))
        self.episode = registry.episode(_scenario(row, name))
        own = self.episode.world.max_turns
        if (given := row.get("max_turns", own)) == 1 < own:
            raise ConfigError(f"{name} takes several turns and SkyRL gives it 1; set generator.max_turns={own}")
        self.max_turns = min(given, own)

    def init(self, prompt: list[Message]) -> tuple[list[Message], dict[str, Any]]:
        """The conversation so far, as the row has it, and the scenario.

        Args:
            prompt: The row's messages; an empty list for those that `opening` makes.

        Raises:
            ConfigError: The row opens with other words than the scenario, so it was made for another version.
        """
        messages, opening = prompt or _opening(self.episode), self.episode.messages[-1]["content"]
        if (found := messages[-1]["content"]) != opening:
            says = f"{self.episode.scenario} opens with {opening[:80]!r}, its row with {found[:80]!r}"
            raise ConfigError(f"{says}; write the data set anew with trace_gym.adapters.skyrl.write_dataset")
        return messages, {"scenario": str(self.episode.scenario)}

    def step(self, action: str) -> dict[str, Any]:
        """Take one assistant turn; the metadata of the last one holds the score."""
        before = self.episode.done
        answers = self.episode.step(action)
        if self.episode.turns >= self.max_turns:
            self.episode.finish()
        self.turns, score = self.episode.turns, self.episode.score
        return {
            "observations": [dict(m) for m in answers],
            "reward": 0.0 if before or score is None else reward(score, self.weights),
            "done": self.episode.done,
            "metadata": {} if score is None else {"score": score.model_dump(), "success": score.success},
        }

    def get_metrics(self) -> dict[str, float]:
        """The score for the log, where SkyRL shows means as ``environment/<name>/success`` and so on.

        The name is there because SkyRL lets equal keys of two environments overwrite each other. An attempt that the
        length of the context cut short was paid nothing; it is scored here as it stands.
        """
        score, name = self.episode.finish(), self.episode.scenario.env
        levels = {
            "success": score.success,
            "progress": score.progress,
            "wellformed": score.wellformed,
            "conduct": score.conduct,
        }
        made = {**levels, "broken": bool(score.broken), "turns": self.turns}
        return {f"{name}/{key}": float(value) for key, value in made.items()}


def register_all() -> list[str]:
    """Make skyrl-gym's ``trace/*`` ids agree with the registry, and return them; once more does no harm.

    A process that Ray has started must import this module before it makes an environment.
    """
    registry.refresh()
    made = {registry.gym_id(name): name for name in (*registry.names(), *registry.mixtures())}
    known: dict[str, Any] = _gym.registry
    for gone in [i for i in known if i.startswith("trace/") and i not in made]:
        del known[gone]
    for gym_id in made.keys() - known.keys():
        entry_point = f"{__name__}:{TraceEnv.__name__}"  # by name: SkyRL asks the class to sum up its metrics
        _gym.register(id=gym_id, entry_point=entry_point, kwargs={"name": made[gym_id]})
    return sorted(made)


def opening_of(scenario: Scenario, tools: Literal["message", "template"] = "message") -> list[Message]:
    """The system message and the user's first, for a row.

    Args:
        scenario: The problem.
        tools: ``message`` writes the raw schemas into the system message. ``template`` leaves them to SkyRL's
            ``generator.chat_template_kwargs.tools``, one list for a whole run.
    """
    return _opening(registry.episode(scenario), tools)


def _opening(episode: Episode, tools: str = "message") -> list[Message]:
    system, user = [dict(m) for m in episode.messages]
    if tools == "message" and episode.tools:
        system["content"] += TOOLS.format(tools="\n".join(json.dumps(t, ensure_ascii=False) for t in episode.tools))
    return [system, user]


def write_dataset(
    path: str | os.PathLike[str],
    scenarios: Iterable[Scenario],
    *,
    weights: str = "default",
    tools: Literal["message", "template"] = "message",
) -> int:
    """Write a data set for SkyRL, the whole file or nothing, and return how many rows it has.

    Args:
        path: The file; ``.parquet``, or ``.jsonl`` for one JSON object a line.
        scenarios: What is trained on, of one environment or of several.
        weights: How an attempt is paid: ``default``, partly for progress, or ``sparse``, only for success.
        tools: Where the policy sees the schemas, see `opening_of`.

    Raises:
        ConfigError: There is no scenario, no such option, or the file has another ending.
        MissingExtra: Parquet needs pyarrow.
    """
    file = Path(path)
    _weights(weights)
    rows: list[Row] = [
        {
            "prompt": opening_of(scenario, tools),
            "env_class": registry.gym_id(scenario.env),
            "scenario": str(scenario),
            "data_source": scenario.env,  # what SkyRL evaluates apart
            "weights": weights,
        }
        for scenario in scenarios
    ]
    if not rows or file.suffix not in (".parquet", ".jsonl"):
        raise ConfigError(
            f"{len(rows)} scenarios for {file}; expected some, and a file that ends in .parquet or .jsonl"
        )
    if file.suffix == ".jsonl":
        write(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    else:
        _write_parquet(file, rows)
    return len(rows)


def _write_parquet(file: Path, rows: list[Row]) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra(f"{file} needs pyarrow; pip install pyarrow, or write .jsonl") from None
    file.parent.mkdir(parents=True, exist_ok=True)
    made = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        parquet.write_table(arrow.Table.from_pylist(rows), made)
        os.replace(made, file)
    finally:
        made.unlink(missing_ok=True)


def _scenario(row: Row, name: str) -> Scenario:
    if not isinstance(text := row.get("scenario"), str):
        found = ", ".join(row) or "nothing"
        raise ConfigError(f"the row has {found} and no scenario; make it with trace_gym.adapters.skyrl.write_dataset")
    scenario = Scenario.parse(text)
    if name and scenario.env != name:
        raise EnvNotFound(f"{scenario} is no scenario of {name}; its env_class is {registry.gym_id(scenario.env)}")
    return scenario


def _weights(name: str) -> RewardWeights:
    if name not in WEIGHTS:
        raise ConfigError(f"weights {name!r} is unknown; expected one of {', '.join(WEIGHTS)}")
    return WEIGHTS[name]


register_all()
