"""Adapter for skyrl-gym environments. Each environment instance runs one task, which is a row of its data set."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from types import SimpleNamespace
from typing import Any, ClassVar

from trace_gym.errors import ConfigError, EnvNotFound, MissingExtra, ReadError
from trace_gym.files import read_text
from trace_gym.parsing import json_lines
from trace_gym.validation.third_party import synthetic_tasks
from trace_gym.validation.third_party.black_box import BlackBox, TurnResponse, solution_turns
from trace_gym.validation.third_party.uri import EnvironmentURI, creation_error, import_required

SkyrlRow = dict[str, Any]
"""A task as a row of a data set: ``prompt`` (chat messages) and other arguments of the environment, such as
``reward_spec``."""

ALIASES = {"sql": "text2sql"}
RANGES = {"text2sql": (-1.0, 1.0), "aime": (-1.0, 1.0)}
"""Reward ranges of skyrl-gym's environments, if they differ from [0, 1]."""
SOLUTIONS: dict[str, Callable[[SkyrlRow], list[str]]] = {
    "gsm8k": lambda row: [f"#### {row['reward_spec']['ground_truth']}"],
    "gsm8k_multi_turn": lambda row: [f"#### {row['reward_spec']['ground_truth']}"],
    "aime": lambda row: [f"Answer: {row['reward_model']['ground_truth']}"],
    "search": lambda row: [f"<answer>{row['reward_spec']['ground_truth']['target'][0]}</answer>"],
    "text2sql": lambda row: [
        f"<think>I try it first.</think><sql>{row['reward_spec']['ground_truth']}</sql>",
        f"<think>That is it.</think><solution>{row['reward_spec']['ground_truth']}</solution>",
    ],
}
"""Functions by skyrl-gym environment that return the turns of a correct solution for a row."""


class SkyrlBox(BlackBox):
    """A skyrl-gym environment, with a URI such as ``skyrl:gsm8k@tasks.jsonl``. The seed is the row number in the file.

    Without a file, synthetic tasks are used if `synthetic_tasks` supports the environment.
    The URI ``skyrl:my_module:my-env@tasks.jsonl`` also imports the module that registers the environment. A row may
    contain a reference solution in ``solution``, as a text or a list of turns. URI options, such as ``db_path``, are
    passed to the configuration of the environment.
    """

    missing_reference = "the rows have no field `solution`; add one with a text or a list of texts"
    kind: ClassVar[str] = "a skyrl-gym environment"

    def __init__(self, address: EnvironmentURI) -> None:
        skyrl_gym = import_required("skyrl_gym", "skyrl-gym", address)
        name, _, file = address.name.partition("@")
        module, _, plain = name.rpartition(":")
        if module:
            try:
                import_module(module)
            except Exception as error:
                raise creation_error(address.text, error) from error
        self.env_id = ALIASES.get(plain, plain)
        if self.env_id not in skyrl_gym.registry:
            raise EnvNotFound(
                f"skyrl-gym has no environment {self.env_id}, expected one of {', '.join(sorted(skyrl_gym.registry))}"
            )
        self._make: Any = skyrl_gym.make
        self._env: Any = None
        self.options = dict(address.options)
        self.low, self.high = RANGES.get(self.env_id, (0.0, 1.0))
        self.rows = rows(file) if file else []
        self.problems, self.synthetic = len(self.rows) or None, not self.rows
        if self.synthetic and self.env_id not in synthetic_tasks.TASKS:
            raise ConfigError(
                f"the environment {self.env_id!r} requires a file with tasks: only {', '.join(synthetic_tasks.TASKS)} "
                f"can be validated without one. Add the file to the URI, as in {address.text}@tasks.jsonl"
            )
        try:
            self._open(0)
        except Exception as error:
            raise creation_error(address.text, error) from error
        self.limit = max(1, getattr(self._env, "max_turns", 1))

    def _row(self, seed: int) -> SkyrlRow:
        return synthetic_tasks.TASKS[self.env_id](seed) if self.synthetic else self.rows[seed]

    def _open(self, seed: int) -> SkyrlRow:
        row = dict(self._row(seed))
        if (script := row.pop("script", None)) is not None:
            row["db_id"] = synthetic_tasks.write_database(script)
            self.options["db_path"] = str(synthetic_tasks.database_folder())
        config = SimpleNamespace(**self.options)
        extras = {k: v for k, v in row.items() if k not in ("prompt", "env_class", "solution")}
        self._env = self._make(self.env_id, env_config=config, extras=extras)
        return row

    def begin(self, seed: int) -> str:
        if self._env is not None:
            self._env.close()
        row = self._open(seed)
        prompt, _ = self._env.init(row["prompt"])
        return _as_text(prompt)

    def act(self, text: str) -> TurnResponse:
        answer = self._env.step(text)
        return TurnResponse(_as_text(answer["observations"]), float(answer["reward"]), bool(answer["done"]))

    def solution(self, seed: int) -> list[str] | None:
        row = self._row(seed)
        if "solution" in row:
            return solution_turns(row["solution"], f"the solution of row {seed}")
        return SOLUTIONS[self.env_id](row) if self.env_id in SOLUTIONS else None

    def close(self) -> None:
        if self._env is not None:
            self._env.close()
        self._env = None


def _as_text(messages: list[dict[str, str]]) -> str:
    return "\n\n".join(str(m["content"]) for m in messages)


def rows(path: str) -> list[SkyrlRow]:
    """Return the tasks in a file with one JSON object per line, or in a parquet table.

    Raises:
        ReadError: The file cannot be read, or a row has no prompt.
        MissingExtra: The packages for reading parquet files are not installed.
    """
    fix = "Pass a file with one JSON object per line, or parquet"
    if path.endswith(".parquet"):
        try:
            made: list[SkyrlRow] = json.loads(import_module("pandas").read_parquet(path).to_json(orient="records"))
        except ImportError:
            raise MissingExtra(f"{path} requires pyarrow. Run pip install pyarrow") from None
        except (OSError, ValueError) as error:
            raise ReadError(f"{path} cannot be read: {error}. {fix}") from None
    else:
        made = [row for _, row in json_lines(read_text(path, fix), path, fix, nan=True)]
    for number, row in enumerate(made, 1):
        if not isinstance(row, dict) or not isinstance(row.get("prompt"), list):
            raise ReadError(
                f"{path}:{number} is not a valid task: expected an object whose field 'prompt' is a list of messages"
            )
    if not made:
        raise ReadError(f"{path} contains no tasks. {fix}")
    return made
