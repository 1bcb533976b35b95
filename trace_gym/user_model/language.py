"""A language model that rewords the messages of a scripted user."""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from trace_gym.errors import ConfigError, EmptyAnswer, ModelError, NoUsableAnswer, UserUnavailable
from trace_gym.llm import Budget, Completion, ModelRequest, Price, Resolved, Usage, ask_for, open_model_uri
from trace_gym.llm.model_uri import log_to_stderr
from trace_gym.llm.recordings import Recordings
from trace_gym.speech import Spoken
from trace_gym.threads import CONCURRENCY
from trace_gym.types import Message, Scenario
from trace_gym.user_model.check import problems
from trace_gym.user_model.prompt import agent_texts, messages

ATTEMPTS = 2
"""Maximum number of requests for one message. The second request contains the errors in the first answer."""
MAX_TOKENS = 2048
"""Maximum length of an answer in tokens, including the reasoning of the model."""
RETRIES, TIMEOUT, PATIENCE = 4, 120.0, 600.0
"""Number of retries of a failed request, and timeouts in seconds for one attempt and for all attempts together."""


@dataclass(frozen=True)
class Counts:
    """Number of messages that the model reworded, and number of messages that kept the wording of the script."""

    reworded: int = 0
    """Number of messages that the model has reworded."""
    retried: int = 0
    """Number of reworded messages that required a second attempt."""
    scripted: int = 0
    """Number of messages that kept the wording of the script, because no answer of the model passed the check."""


class LanguageUser:
    """Language model that rewords the messages of a scripted user.

    The world still determines every answer, all state changes, and the end of the conversation. The function `problems`
    checks that a rewording has the same meaning. If two rewordings fail the check, the message of the script is used.

    Args:
        address: Model URI: ``openai:MODEL``, ``openai:MODEL@URL``, or ``replay:DIR`` for recorded answers.
        folder: Folder for the answers (``answers``) and the ledger (``requests.jsonl``). Requests with a stored
            answer are not sent again. A temporary folder by default.
        temperature: Sampling temperature. Each request contains the seed of the scenario.
        budget: Limit on tokens or dollars.
        price: Price of the model's tokens; required for a budget in dollars.
        log: Function that receives a log message about each failed request.

    Raises:
        ConfigError: The model URI, the temperature or a limit is invalid, or the API key is missing.
        ReadError: The recordings or the ledger cannot be read.
        MissingExtra: The openai package is not installed.
    """

    def __init__(
        self,
        address: str,
        *,
        folder: Path | None = None,
        temperature: float = 0.0,
        budget: Budget | None = None,
        price: Price | None = None,
        log: Callable[[str], None] = log_to_stderr,
    ) -> None:
        if not 0 <= temperature < float("inf"):
            raise ConfigError(
                f"invalid temperature of the user model: found {temperature}, expected a finite number of at least 0"
            )
        self._made_with = {"folder": folder, "temperature": temperature, "price": price, "log": log}
        self.address, self.temperature = address, temperature
        self._limited = budget is not None and budget.limited
        self.folder = folder or Path(mkdtemp(prefix="trace-gym-user-"))
        if folder is None:
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.ledger = self.folder / "requests.jsonl"
        self._model = _Answering(
            open_model_uri(
                address,
                cache=self.folder / "answers",
                ledger=self.ledger,
                budget=budget,
                price=price,
                concurrency=CONCURRENCY,
                timeout=TIMEOUT,
                retries=RETRIES,
                patience=PATIENCE,
                log=log,
            ),
            Recordings(self.folder / "answers"),
        )
        self.counts = Counts()
        self._counting = threading.Lock()

    @property
    def name(self) -> str:
        """Name of the model, such as ``openai:gpt-x``; it is recorded with each trajectory."""
        return self._model.name

    def __deepcopy__(self, memo: dict[int, Any]) -> LanguageUser:
        """Return this object itself, so that copies of an episode or environment share the model, budget and counts."""
        return self

    def __reduce__(self) -> tuple[Callable[..., LanguageUser], tuple[str, dict[str, Any]]]:
        """Return the settings for pickling. The unpickled copy creates a new client for the model.

        Raises:
            ConfigError: The model has a budget, which processes cannot share.
        """
        if self._limited:
            raise ConfigError(
                f"the user model {self.name} has a budget, so it cannot be copied to another process. Use threads, or "
                "remove the budget"
            )
        return _restore, (self.address, self._made_with)

    def speak(self, scenario: Scenario, script: Sequence[str], conversation: Sequence[Message]) -> Spoken:
        """Return a rewording of the last message of the script, or this message if no rewording passes the check.

        Raises:
            UserUnavailable: The model did not answer.
            BudgetSpent: The next request might exceed the budget.
            ConfigError: The endpoint rejects the key, or does not serve the model.
            ReadError: The file that contains the answer is damaged.
        """
        agent = agent_texts(conversation)

        def read(text: str) -> str:
            reply = _bare(text)
            if found := problems(script, agent, reply):
                raise ModelError("; ".join(found))
            return reply

        request = ModelRequest(
            messages=messages(script, conversation),
            purpose=f"user of {scenario}, message {len(script)}",
            temperature=self.temperature,
            max_tokens=MAX_TOKENS,
            seed=scenario.seed,
        )
        try:
            reply, made = ask_for(self._model, request, read, attempts=ATTEMPTS)
        except NoUsableAnswer:
            self._count(scripted=1)
            return Spoken(script[-1], scripted=True)
        except ModelError as error:
            raise UserUnavailable(f"the user of {scenario} cannot answer: {error}") from error
        self._count(reworded=1, retried=int(len(made) > 1))
        return Spoken(reply)

    def summary(self) -> str:
        """Return one line with the numbers of messages, requests and tokens, and the cost."""
        c, used = self.counts, Usage.read(self.ledger)
        cost = f", {used.cost:.4f} dollars" if used.cost and used.requests else ""
        return (
            f"user {self.name}: {c.reworded} messages reworded ({c.retried} in a second attempt), {c.scripted} in the "
            f"words of the script; {used.requests} requests in all, {used.cached} from disk, "
            f"{used.prompt_tokens + used.completion_tokens} tokens{cost}: {self.folder}"
        )

    def _count(self, **more: int) -> None:
        with self._counting:
            self.counts = replace(self.counts, **{key: getattr(self.counts, key) + n for key, n in more.items()})


class _Answering:
    """Wrapper of a model that returns an empty answer instead of raising `EmptyAnswer`, and records the answer."""

    def __init__(self, model: Resolved, recordings: Recordings) -> None:
        self._model, self._recordings = model, recordings

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, request: ModelRequest) -> Completion:
        try:
            return self._model.complete(request)
        except EmptyAnswer:
            empty = Completion(text="", model=self.name, finish="empty")
            self._recordings.save(request, empty)
            return empty


def _restore(address: str, settings: dict[str, Any]) -> LanguageUser:
    return LanguageUser(address, **settings)


def _bare(text: str) -> str:
    """Return a reply without reasoning, surrounding quotation marks and line breaks."""
    reply = " ".join(text.rpartition("</think>")[2].split())
    for opening, closing in ('""', "\u201c\u201d", "''"):
        inside = reply[1:-1]
        if len(reply) > 1 and reply[0] == opening and reply[-1] == closing and not {opening, closing} & set(inside):
            return inside.strip()
    return reply
