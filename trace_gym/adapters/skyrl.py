"""Adapter for skyrl-gym, and training datasets for SkyRL.

A row of a dataset is one scenario. SkyRL samples each row ``n_samples_per_prompt`` times, so that all rollouts of a
group share a scenario. A dataset may contain rows of several environments. Importing this module registers every
environment with skyrl-gym under its gymnasium id.
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
from trace_gym.errors import ConfigError, EnvNotFound, MissingExtra, expect_choice
from trace_gym.files import replacement, write
from trace_gym.score import RewardWeights, reward
from trace_gym.types import Message, Scenario

try:
    _gym: Any = import_module("skyrl_gym")
    _text: Any = import_module("skyrl_gym.envs.base_text_env")
except ImportError as error:
    raise MissingExtra(f"{error.name} is missing; pip install 'trace-gym[skyrl-gym]'") from None

PromptRow = dict[str, Any]
"""One row of a dataset: ``prompt`` and ``env_class`` for SkyRL, and further keys for the environment."""

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
"""Tool section of the system message, identical to the text of the Qwen 2.5 and Qwen 3 chat templates."""


class TraceTextEnv(_text.BaseTextEnv):  # type: ignore[misc]  # skyrl-gym has no types
    """One rollout of the scenario of a row, created with ``skyrl_gym.make("trace/<name>-v<version>", extras=row)``.

    An action is the text of an assistant turn. An invalid action does not raise an exception; instead, the observation
    is an error message. The reward of every step except the last is 0. The episode ends and is scored after
    `generator.max_turns` turns, or at the environment's turn limit if that is lower.

    SkyRL does not support rollouts without a reward. An error of the environment is therefore raised and stops the run.

    Args:
        env_config: SkyRL's configuration under ``environment.skyrl_gym``; ignored.
        extras: The row without its prompt: ``scenario``, optionally ``weights``, and ``max_turns``, which SkyRL adds.
        name: The environment or mixture that the scenario must belong to.

    Raises:
        ConfigError: The row has no scenario or unknown weights, or SkyRL allows one turn but the scenario needs more.
        ScenarioError, EnvNotFound: The scenario does not exist, or belongs to another environment.
    """

    def __init__(self, env_config: object = None, extras: Mapping[str, Any] | None = None, name: str = "") -> None:
        super().__init__()
        row = dict(extras or {})
        self.weights = _weights(row.get("weights", "default"))
        self.episode = registry.start_episode(_scenario(row, name))
        own = self.episode.world.max_turns
        if (given := row.get("max_turns", own)) == 1 < own:
            raise ConfigError(
                f"max_turns=1 is too small for {name}: an episode can have up to {own} turns. Set "
                f"generator.max_turns={own}"
            )
        self.max_turns = min(given, own)

    def init(self, prompt: list[Message]) -> tuple[list[Message], dict[str, Any]]:
        """Return the initial messages and an info dict with the scenario id.

        Args:
            prompt: Messages of the row; an empty list for the messages of `opening_of`.

        Raises:
            ConfigError: The row has a different first user message than the scenario, so the row is outdated.
        """
        messages, opening = prompt or _opening(self.episode), self.episode.messages[-1]["content"]
        if (found := messages[-1]["content"]) != opening:
            raise ConfigError(
                f"the dataset row of {self.episode.scenario} was written for another version of the environment: found "
                f"the first user message {found[:80]!r}, expected {opening[:80]!r}. Write the dataset again with "
                "trace_gym.adapters.skyrl.write_dataset"
            )
        return messages, {"scenario": str(self.episode.scenario)}

    def step(self, action: str) -> dict[str, Any]:
        """Take one assistant turn and return SkyRL's step output. The metadata of the last turn contains the score."""
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
        """Return the score as metrics, which SkyRL averages and logs as ``environment/<name>/success`` and so on.

        The keys contain the name of the environment, because in SkyRL equal keys of two environments overwrite each
        other. A rollout that was truncated by the context length has a reward of 0. Its metrics describe its state at
        the truncation.
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
    """Synchronize the ``trace/*`` ids of skyrl-gym with the registry, and return the ids. Repeated calls are harmless.

    A process that Ray starts must import this module before it creates an environment.
    """
    registry.refresh()
    made = {registry.gym_id(name): name for name in (*registry.list_environments(), *registry.list_mixtures())}
    known: dict[str, Any] = _gym.registry
    for gone in [i for i in known if i.startswith("trace/") and i not in made]:
        del known[gone]
    for gym_id in made.keys() - known.keys():
        entry_point = (
            f"{__name__}:{TraceTextEnv.__name__}"  # a string, because SkyRL imports the class to average metrics
        )
        _gym.register(id=gym_id, entry_point=entry_point, kwargs={"name": made[gym_id]})
    return sorted(made)


def opening_of(scenario: Scenario, tools: Literal["message", "template"] = "message") -> list[Message]:
    """Return the system message and the first user message of a scenario, for a row of a dataset.

    Args:
        scenario: The scenario.
        tools: ``message`` adds the raw schemas to the system message. ``template`` omits them, for use with SkyRL's
            ``generator.chat_template_kwargs.tools``, which is one list for the whole run.
    """
    return _opening(registry.start_episode(scenario), tools)


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
    """Write a dataset for SkyRL atomically, and return the number of its rows.

    Args:
        path: Output file: ``.parquet``, or ``.jsonl`` for one JSON object per line.
        scenarios: Training scenarios, of one or several environments.
        weights: Reward weights: ``default`` also rewards partial progress, ``sparse`` rewards only success.
        tools: Location of the tool schemas, see `opening_of`.

    Raises:
        ConfigError: `scenarios` is empty, the weights are unknown, or the file has another extension.
        MissingExtra: pyarrow, which is required for Parquet, is not installed.
    """
    file = Path(path)
    _weights(weights)
    rows: list[PromptRow] = [
        {
            "prompt": opening_of(scenario, tools),
            "env_class": registry.gym_id(scenario.env),
            "scenario": str(scenario),
            "data_source": scenario.env,  # SkyRL reports evaluations per data source
            "weights": weights,
        }
        for scenario in scenarios
    ]
    if not rows or file.suffix not in (".parquet", ".jsonl"):
        raise ConfigError(
            f"cannot write {len(rows)} scenarios to {file}: expected at least 1 scenario and a file name that ends in "
            ".parquet or .jsonl"
        )
    if file.suffix == ".jsonl":
        write(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    else:
        _write_parquet(file, rows)
    return len(rows)


def _write_parquet(file: Path, rows: list[PromptRow]) -> None:
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra(f"cannot write {file}: pyarrow is missing; pip install pyarrow, or write .jsonl") from None
    with replacement(file) as new:
        parquet.write_table(arrow.Table.from_pylist(rows), new)


def _scenario(row: PromptRow, name: str) -> Scenario:
    if not isinstance(text := row.get("scenario"), str):
        found = ", ".join(row) or "nothing"
        raise ConfigError(
            f"the dataset row contains no scenario id: found the keys {found}, expected a text under the key "
            "'scenario'. Write the dataset with trace_gym.adapters.skyrl.write_dataset"
        )
    scenario = Scenario.parse(text)
    if name and scenario.env != name:
        raise EnvNotFound(
            f"the scenario belongs to another environment: found {scenario}, expected a scenario of {name}. Use the "
            f"env_class {registry.gym_id(scenario.env)}"
        )
    return scenario


def _weights(name: str) -> RewardWeights:
    expect_choice("value of weights", name, WEIGHTS)
    return WEIGHTS[name]


register_all()
