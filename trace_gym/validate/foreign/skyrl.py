"""Environments of skyrl-gym: each is made for one task, a row of the data set that it is trained on."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

from trace_gym.errors import ConfigError, EnvNotFound, MissingExtra, ReadError
from trace_gym.validate.foreign import lent
from trace_gym.validate.foreign.address import Address, needed, trouble
from trace_gym.validate.foreign.box import BlackBox, Turn, turns_of

Row = dict[str, Any]
"""``prompt`` (chat messages) and what else the environment is given, such as ``reward_spec``."""

ALIASES = {"sql": "text2sql"}
RANGES = {"text2sql": (-1.0, 1.0), "aime": (-1.0, 1.0)}
"""What the environments of the package pay, where it is not 0 to 1."""
SOLUTIONS: dict[str, Callable[[Row], list[str]]] = {
    "gsm8k": lambda row: [f"#### {row['reward_spec']['ground_truth']}"],
    "gsm8k_multi_turn": lambda row: [f"#### {row['reward_spec']['ground_truth']}"],
    "aime": lambda row: [f"Answer: {row['reward_model']['ground_truth']}"],
    "search": lambda row: [f"<answer>{row['reward_spec']['ground_truth']['target'][0]}</answer>"],
    "text2sql": lambda row: [
        f"<think>I try it first.</think><sql>{row['reward_spec']['ground_truth']}</sql>",
        f"<think>That is it.</think><solution>{row['reward_spec']['ground_truth']}</solution>",
    ],
}
"""The ground truth of a row in the form that the package's own environments ask for."""


class SkyrlBox(BlackBox):
    """``skyrl:gsm8k@tasks.jsonl``: seed s is row s. Without a file a few tasks are made up, where `lent` has some.

    ``skyrl:my_module:my-env@tasks.jsonl`` imports what registers an environment. A row may hold its ``solution``,
    a text or a list of turns. Options are the environment's configuration, such as ``db_path``.
    """

    kind: ClassVar[str] = "a skyrl-gym environment"

    def __init__(self, address: Address) -> None:
        skyrl_gym = needed("skyrl_gym", "skyrl-gym", address)
        name, _, file = address.name.partition("@")
        module, _, plain = name.rpartition(":")
        if module:
            try:
                import_module(module)
            except Exception as error:
                raise trouble(address.text, error) from error
        self.env_id = ALIASES.get(plain, plain)
        if self.env_id not in skyrl_gym.registry:
            raise EnvNotFound(f"skyrl-gym has no {self.env_id}; it has {', '.join(sorted(skyrl_gym.registry))}")
        self._make: Any = skyrl_gym.make
        self._env: Any = None
        self.options = dict(address.options)
        self.low, self.high = RANGES.get(self.env_id, (0.0, 1.0))
        self.rows = rows(file) if file else []
        self.problems, self.lent = len(self.rows) or None, not self.rows
        if self.lent and self.env_id not in lent.TASKS:
            says = f"{self.env_id} needs tasks, such as {address.text}@tasks.jsonl with a prompt in each line"
            raise ConfigError(f"{says}; they are made up for {', '.join(lent.TASKS)} only")
        try:
            self._open(0)
        except Exception as error:
            raise trouble(address.text, error) from error
        self.limit = max(1, getattr(self._env, "max_turns", 1))

    def _row(self, seed: int) -> Row:
        return lent.TASKS[self.env_id](seed) if self.lent else self.rows[seed]

    def _open(self, seed: int) -> Row:
        row = dict(self._row(seed))
        if (script := row.pop("script", None)) is not None:
            row["db_id"] = lent.database(script)
            self.options["db_path"] = str(lent.folder())
        config = SimpleNamespace(**self.options)
        extras = {k: v for k, v in row.items() if k not in ("prompt", "env_class", "solution")}
        self._env = self._make(self.env_id, env_config=config, extras=extras)
        return row

    def begin(self, seed: int) -> str:
        if self._env is not None:
            self._env.close()
        row = self._open(seed)
        prompt, _ = self._env.init(row["prompt"])
        return _told(prompt)

    def act(self, text: str) -> Turn:
        answer = self._env.step(text)
        return Turn(_told(answer["observations"]), float(answer["reward"]), bool(answer["done"]))

    def solution(self, seed: int) -> list[str] | None:
        row = self._row(seed)
        if "solution" in row:
            return turns_of(row["solution"], f"the solution of row {seed}")
        return SOLUTIONS[self.env_id](row) if self.env_id in SOLUTIONS else None

    def close(self) -> None:
        if self._env is not None:
            self._env.close()
        self._env = None


def _told(messages: list[dict[str, str]]) -> str:
    return "\n\n".join(str(m["content"]) for m in messages)


def rows(path: str) -> list[Row]:
    """The tasks of a file: one JSON object a line, or a table in parquet.

    Raises:
        ReadError: It cannot be read, or a row has no prompt.
        MissingExtra: Nothing that reads parquet is installed.
    """
    try:
        if path.endswith(".parquet"):
            made: list[Row] = json.loads(import_module("pandas").read_parquet(path).to_json(orient="records"))
        else:
            made = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except ImportError:
        raise MissingExtra(f"{path} needs pyarrow: pip install pyarrow") from None
    except (OSError, ValueError) as error:
        raise ReadError(f"{path} cannot be read: {error}; expected a JSON object a line, or parquet") from None
    for number, row in enumerate(made, 1):
        if not isinstance(row, dict) or not isinstance(row.get("prompt"), list):
            raise ReadError(f"{path}:{number} is no task; expected an object whose prompt is a list of messages")
    if not made:
        raise ReadError(f"{path} holds no task")
    return made
