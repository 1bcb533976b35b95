"""Adapter for plain reward functions, with the cases of a JSONL file as problems."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar, cast

from trace_gym.errors import ConfigError, EnvNotFound, ReadError
from trace_gym.files import read_text
from trace_gym.parsing import json_lines
from trace_gym.validation.third_party.answer_forms import FORMS
from trace_gym.validation.third_party.black_box import BlackBox, TurnResponse
from trace_gym.validation.third_party.uri import SEARCHED, EnvironmentURI, creation_error

RewardRow = dict[str, Any]
"""Case of a file: ``prompt`` (a text or chat messages), a reference, and any other columns."""

SINGLE = ("completion", "response", "solution_str")
"""Names of the parameter for one completion. ``solution_str`` is the name that verl uses."""
BATCH = "completions"
"""Name of the parameter for a list of completions, as in TRL."""
REFERENCES = ("reference", "solution", "answer", "ground_truth")
"""Columns that may contain the reference, in the order of preference."""
FORM_ROWS = 8
"""Number of cases that determine the format of the references."""
SIGNATURES = (
    "fn(completion, **columns) -> float (the first parameter may also be called response or solution_str), or "
    "fn(completions, **columns) -> list[float] as in TRL"
)


class FunctionBox(BlackBox):
    """Reward function with cases, with a URI such as ``function:my_module:reward@cases.jsonl``.

    The seed is the number of the case in the file. The function receives the completion and the columns of the case as
    keyword arguments, limited to those that its signature accepts. A function with a parameter ``completions`` receives
    lists of one element, as in TRL. A conversational prompt (a list of messages) then gives conversational completions.
    The function may be asynchronous.

    URI options: ``reference`` names the column of the reference. ``form`` is the format of a completion, in which
    ``{}`` represents the reference; by default, the format that gets the highest rewards is used.
    """

    missing_reference = "the cases have no reference; add a column `reference`, or name one with the option `reference`"
    kind: ClassVar[str] = "a reward function"

    def __init__(self, address: EnvironmentURI) -> None:
        name, _, file = address.name.partition("@")
        self.function = load_function(name, file, address.text)
        self.rows = read_cases(file)
        self.problems, self.limit = len(self.rows), 1
        self.batch, self.parameter, self.accepts = parameters(self.function, self.rows[0], name)
        options = dict(address.options)
        self._column, self._form = options.pop("reference", None), options.pop("form", None)
        if options:
            raise ConfigError(
                f"{address.text} has an unknown option: found {next(iter(options))!r}, expected reference, form, low, "
                "high, limit or tolerance"
            )
        if self._column is not None and not any(self._column in row for row in self.rows):
            raise ConfigError(
                f"invalid option 'reference' in {address.text}: no case in {file} has the column {self._column!r}"
            )
        if self._form is not None and "{}" not in str(self._form):
            raise ConfigError(
                f"invalid option 'form' in {address.text}: found {self._form!r}, expected a text that contains {{}}"
            )

    def begin(self, seed: int) -> str:
        self._row = self.rows[seed]
        return prompt_text(self._row["prompt"])

    def act(self, text: str) -> TurnResponse:
        return TurnResponse("", self.reward(self._row, text), True)

    def reward(self, row: RewardRow, text: str) -> float:
        """Return the reward of a completion.

        Raises:
            TypeError: The function does not return a number, or a list with one number.
        """
        completion = [{"role": "assistant", "content": text}] if isinstance(row["prompt"], list) else text
        if self.batch:
            columns = {"prompts" if key == "prompt" else key: [value] for key, value in row.items()}
            given = columns | {self.parameter: [completion]}
        else:
            given = row | {self.parameter: text}
        made = self.function(**{key: value for key, value in given.items() if self.accepts(key)})
        if inspect.isawaitable(made):
            made = asyncio.run(_awaited(made))
        return number(made, self.batch)

    def solution(self, seed: int) -> list[str] | None:
        reference = self._reference(self.rows[seed])
        if reference is None:
            return None
        if self._form is None:
            self._form = self._best_form()
        return [str(self._form).replace("{}", reference)]

    def _reference(self, row: RewardRow) -> str | None:
        column = self._column or next((name for name in REFERENCES if row.get(name) is not None), None)
        value = row.get(column) if column else None
        if value is None or isinstance(value, str):
            return value
        return json.dumps(value) if isinstance(value, (bool, list, dict)) else str(value)

    def _best_form(self) -> str:
        """Return the format of the references that gets the highest total reward; the bare reference in a tie."""
        chosen = [(row, made) for row in self.rows if (made := self._reference(row)) is not None][:FORM_ROWS]
        forms = ["{}", *(form.format("{}") for form in FORMS)]
        totals = []
        for form in forms:
            totals.append(sum(self._reward_or_zero(row, form.replace("{}", made)) for row, made in chosen))
            if totals[-1] >= len(chosen) * self.high:
                break
        return forms[totals.index(max(totals))]

    def _reward_or_zero(self, row: RewardRow, text: str) -> float:
        with suppress(Exception):
            made = self.reward(row, text)
            return made if math.isfinite(made) else 0.0
        return 0.0


async def _awaited(made: Any) -> Any:
    return await made


def load_function(name: str, file: str, uri: str) -> Callable[..., Any]:
    """Import a reward function by the name ``module:function``.

    Raises:
        ConfigError: The name or the file is missing, or the name does not refer to a function.
        EnvNotFound: The module or the function does not exist.
        EnvBug: The module raises an exception.
    """
    module, _, attribute = name.partition(":")
    if not (module and attribute and file):
        raise ConfigError(f"{uri!r} is not a valid environment URI: expected function:MODULE:FUNCTION@CASES.jsonl")
    try:
        found = getattr(import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise EnvNotFound(f"{uri}: {error}. {SEARCHED}") from None
    except AttributeError:
        raise EnvNotFound(f"{uri}: the module {module} has no function {attribute}") from None
    except Exception as error:
        raise creation_error(uri, error) from error
    if not callable(found) or inspect.isclass(found):
        raise ConfigError(f"{attribute} in {uri} is not a function: found {found!r:.100}, expected {SIGNATURES}")
    return cast("Callable[..., Any]", found)


def read_cases(path: str) -> list[RewardRow]:
    """Return the cases in a file with one JSON object per line.

    Raises:
        ReadError: The file cannot be read, or a case has no prompt.
    """
    fix = 'Pass a file with one JSON object per line, such as {"prompt": "What is 2 + 3?", "answer": "5"}'
    made = []
    for line, row in json_lines(read_text(path, fix), path, fix, nan=True):
        if not isinstance(row, dict) or not valid_prompt(row.get("prompt")):
            raise ReadError(
                f"line {line} of {path} is not a valid case: found {json.dumps(row)[:80]}, expected an object whose "
                f"field 'prompt' is a string or a list of messages. {fix}"
            )
        made.append(row)
    if not made:
        raise ReadError(f"{path} contains no cases. {fix}")
    return made


def valid_prompt(prompt: Any) -> bool:
    """Return whether a value is a text, or a nonempty list of messages with texts."""
    if isinstance(prompt, list):
        return bool(prompt) and all(isinstance(m, dict) and isinstance(m.get("content"), str) for m in prompt)
    return isinstance(prompt, str)


def prompt_text(prompt: Any) -> str:
    """Return a prompt as one text."""
    return prompt if isinstance(prompt, str) else "\n\n".join(message["content"] for message in prompt)


def parameters(
    function: Callable[..., Any], row: Mapping[str, Any], name: str
) -> tuple[bool, str, Callable[[str], bool]]:
    """Return whether a function scores batches, its parameter for completions, and a test for accepted arguments.

    Raises:
        ConfigError: The signature is not supported, or a required parameter is not a column of the cases.
    """
    try:
        known = inspect.signature(function).parameters
    except (TypeError, ValueError):
        raise ConfigError(f"the signature of the function {name} cannot be determined: expected {SIGNATURES}") from None
    names = [key for key, made in known.items() if made.kind in (made.POSITIONAL_OR_KEYWORD, made.KEYWORD_ONLY)]
    parameter = next((key for key in (BATCH, *SINGLE) if key in names), None)
    if parameter is None:
        raise ConfigError(
            f"the function {name} has no parameter for the completion: found the parameters ({', '.join(names)}), "
            f"expected {SIGNATURES}"
        )
    batch = parameter == BATCH
    given = {"prompts" if batch and key == "prompt" else key for key in row} | {parameter}
    required = [key for key, made in known.items() if made.default is made.empty and made.kind not in _VARIADIC]
    if missing := [key for key in required if key not in given or key not in names]:
        raise ConfigError(
            f"the function {name} requires the parameter {missing[0]!r}, but the cases have no column of this name: "
            f"found the columns {', '.join(sorted(row))}. Add the column to the file, or give the parameter a default "
            "value"
        )
    everything = any(made.kind is made.VAR_KEYWORD for made in known.values())
    return batch, parameter, lambda key: everything or key in names


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def number(made: Any, batch: bool) -> float:
    """Convert the result of a reward function to a number.

    Raises:
        TypeError: The result is not a number, or not a list with one number.
    """
    if batch:
        try:
            [made] = list(made)
        except (TypeError, ValueError):
            raise TypeError(f"the reward function returned {made!r:.100}, expected a list with one number") from None
    try:
        return float(made)
    except (TypeError, ValueError):
        raise TypeError(f"the reward function returned {made!r:.100}, expected a number") from None
