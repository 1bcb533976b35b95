"""Answers of a form: what cannot be read goes back to the model with what is wrong, so many times and no more."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from trace_gym.errors import ConfigError, ModelError, NoUsableAnswer
from trace_gym.llm.dialect import asks_for
from trace_gym.llm.extract import objects_in
from trace_gym.llm.quoting import inline
from trace_gym.llm.request import Completion, Model, Request

T = TypeVar("T")
Answer = TypeVar("Answer", bound=BaseModel)

FAULTS = 12
"""Wrong fields that the model is told of at once."""


def ask(model: Model, request: Request, answer: type[Answer], *, attempts: int = 3) -> tuple[Answer, list[Completion]]:
    """Ask for an answer of a type.

    Args:
        model: Who is asked.
        request: What is asked; its `answer` is the schema of the type unless it has one.
        answer: A pydantic type.
        attempts: Requests in all.

    Returns:
        The answer, and every completion that it took.

    Raises:
        NoUsableAnswer: No answer could be read.
        ModelError: The model did not answer.
        BudgetSpent: The next request might cost more than is left.
    """
    schema = request.answer or answer.model_json_schema()
    wanted = request.model_copy(update={"answer": schema})
    return ask_for(model, wanted, partial(parse, answer), attempts=attempts)


def ask_for(
    model: Model, request: Request, read: Callable[[str], T], *, attempts: int = 3
) -> tuple[T, list[Completion]]:
    """Ask until `read` takes the answer, such as `code_in`; it raises `ModelError` with what is wrong.

    Each further request holds the first one, the last answer and what is wrong with it. As another request it is
    answered anew, and kept in the cache beside the others.

    Raises:
        NoUsableAnswer: No answer could be read.
        ModelError: The model did not answer.
        BudgetSpent: The next request might cost more than is left.
    """
    if attempts < 1:
        raise ConfigError(f"attempts is 1 or more, found {attempts}")
    made: list[Completion] = []
    asked = request
    while True:
        made.append(last := model.complete(asked))
        try:
            return read(last.text), made
        except ModelError as error:
            fault = _fault(last, str(error))
        if len(made) == attempts:
            raise NoUsableAnswer(
                f"{model.name} gave no usable answer to {request.purpose!r} in {attempts} attempts; the last: {fault}"
            )
        asked = _again(request, last, fault, len(made) + 1)


def parse(answer: type[Answer], text: str) -> Answer:
    """The last JSON object of a text that is of a type.

    Raises:
        ModelError: There is none; names the wrong fields of the last object.
    """
    fault: ModelError | None = None
    for value in reversed(objects_in(text)):
        try:
            return answer.model_validate_json(json.dumps(value))
        except ValidationError as error:
            fault = fault or ModelError(_wrong_fields(error))
    assert fault is not None
    raise fault


def _wrong_fields(error: ValidationError) -> str:
    told = [f"{'.'.join(map(str, e['loc'])) or 'the object'}: {e['msg']}" for e in error.errors(include_url=False)]
    more = f"; and {len(told) - FAULTS} more" if len(told) > FAULTS else ""
    return f"it has wrong fields: {'; '.join(told[:FAULTS])}{more}"


def _fault(completion: Completion, error: str) -> str:
    """What is wrong, with the reason where the endpoint gave one."""
    if completion.finish == "refusal":
        return f"the model refused: {completion.text[:200]}"
    if completion.finish == "length":
        return f"it was cut off at {completion.completion_tokens or 'the limit of'} tokens, so {error}"
    return error


def _again(request: Request, last: Completion, fault: str, number: int) -> Request:
    """The first request with the last answer and what is wrong with it."""
    shorter = " Be shorter." if last.finish == "length" else ""
    form = f"\n\n{asks_for(request.answer)}" if request.answer is not None else ""
    complaint = f"That answer cannot be used: {inline(fault)}.{shorter} Answer again, from the beginning.{form}"
    turns = ({"role": "assistant", "content": last.text or "(nothing)"}, {"role": "user", "content": complaint})
    purpose = f"{request.purpose}, attempt {number}"
    return request.model_copy(update={"messages": (*request.messages, *turns), "purpose": purpose})
