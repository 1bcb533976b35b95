"""Requests for structured answers. If an answer is invalid, the model receives an error message and answers again."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from trace_gym.errors import ConfigError, ModelError, NoUsableAnswer
from trace_gym.llm.dialect import schema_instruction
from trace_gym.llm.extract import objects_in
from trace_gym.llm.quoting import inline
from trace_gym.llm.request import Completion, Model, ModelRequest

T = TypeVar("T")
Answer = TypeVar("Answer", bound=BaseModel)

MAX_FIELD_ERRORS = 12
"""Maximum number of invalid fields in one error message for the model."""


def ask(
    model: Model, request: ModelRequest, answer: type[Answer], *, attempts: int = 3
) -> tuple[Answer, list[Completion]]:
    """Request an answer from a model, and parse it as a pydantic type.

    Args:
        model: Model to send the requests to.
        request: First request. If its `answer` is None, it is set to the JSON schema of the type.
        answer: Pydantic type of the answer.
        attempts: Maximum number of requests.

    Returns:
        The answer, and all completions including those of failed attempts.

    Raises:
        NoUsableAnswer: No answer could be parsed.
        ModelError: The model did not answer.
        BudgetSpent: The next request might cost more than the remaining budget.
    """
    schema = request.answer or answer.model_json_schema()
    wanted = request.model_copy(update={"answer": schema})
    return ask_for(model, wanted, partial(parse, answer), attempts=attempts)


def ask_for(
    model: Model, request: ModelRequest, read: Callable[[str], T], *, attempts: int = 3
) -> tuple[T, list[Completion]]:
    """Request an answer from a model until a parser accepts the answer.

    Each further request contains the messages of the first request, the last answer and its error message. The cache
    stores these requests separately, because their messages differ.

    Args:
        model: Model to send the requests to.
        request: First request.
        read: Parser such as `code_in`. It raises `ModelError` if the answer is not valid.
        attempts: Maximum number of requests.

    Returns:
        The parsed answer, and all completions including those of failed attempts.

    Raises:
        NoUsableAnswer: No answer could be parsed.
        ModelError: The model did not answer.
        BudgetSpent: The next request might cost more than the remaining budget.
    """
    if attempts < 1:
        raise ConfigError(f"invalid number of attempts: found {attempts}, expected at least 1")
    made: list[Completion] = []
    current = request
    while True:
        made.append(last := model.complete(current))
        try:
            return read(last.text), made
        except ModelError as error:
            error_message = _error_message(last, str(error))
        if len(made) == attempts:
            raise NoUsableAnswer(
                f"{model.name} returned no valid answer to {request.purpose!r} in {attempts} attempts; "
                f"the last error: {error_message}"
            )
        current = _follow_up(request, last, error_message, len(made) + 1)


def parse(answer: type[Answer], text: str) -> Answer:
    """Return the last JSON object in a text that is valid for a pydantic type.

    Raises:
        ModelError: The text contains no valid object. The message names the invalid fields of the last object.
    """
    error_message: ModelError | None = None
    for value in reversed(objects_in(text)):
        try:
            return answer.model_validate_json(json.dumps(value))
        except ValidationError as error:
            error_message = error_message or ModelError(_wrong_fields(error))
    assert error_message is not None
    raise error_message


def _wrong_fields(error: ValidationError) -> str:
    fields = [f"{'.'.join(map(str, e['loc'])) or 'the object'}: {e['msg']}" for e in error.errors(include_url=False)]
    more = f"; and {len(fields) - MAX_FIELD_ERRORS} more" if len(fields) > MAX_FIELD_ERRORS else ""
    return f"the JSON object in the answer has invalid fields: {'; '.join(fields[:MAX_FIELD_ERRORS])}{more}"


def _error_message(completion: Completion, error: str) -> str:
    """Return an error message that includes the reason if the answer was refused or truncated."""
    if completion.finish == "refusal":
        return f"the model refused: {completion.text[:200]}"
    if completion.finish == "length":
        after = f"after {completion.completion_tokens} tokens" if completion.completion_tokens else "at the token limit"
        return f"the answer was cut off {after}, and {error}"
    return error


def _follow_up(request: ModelRequest, last: Completion, error_message: str, number: int) -> ModelRequest:
    """Return the first request with the last answer and its error message appended to the messages."""
    shorter = " Be shorter." if last.finish == "length" else ""
    form = f"\n\n{schema_instruction(request.answer)}" if request.answer is not None else ""
    complaint = f"That answer cannot be used: {inline(error_message)}.{shorter} Answer again, from the beginning.{form}"
    turns = ({"role": "assistant", "content": last.text or "(nothing)"}, {"role": "user", "content": complaint})
    purpose = f"{request.purpose}, attempt {number}"
    return request.model_copy(update={"messages": (*request.messages, *turns), "purpose": purpose})
