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
from trace_gym.llm import Budget, Completion, Price, Request, Resolved, Usage, ask_for, resolve
from trace_gym.llm.address import tell_on_stderr
from trace_gym.llm.recordings import Recordings
from trace_gym.speech import Spoken
from trace_gym.types import Message, Scenario
from trace_gym.user_model.check import problems
from trace_gym.user_model.prompt import agent_texts, messages

ATTEMPTS = 2
"""Requests for one message. The second one contains what was wrong with the first answer."""
MAX_TOKENS = 2048
"""Longest answer in tokens; a model that reasons needs more than the message itself."""
RETRIES, TIMEOUT, PATIENCE = 4, 120.0, 600.0
"""Further attempts at a failed request, seconds for one attempt, and seconds for all of them."""
CONCURRENCY = 8
"""Requests at a time, as many as `trace_gym.rollout.collect` has workers."""


@dataclass(frozen=True)
class Counts:
    """Numbers of messages by how they were worded."""

    reworded: int = 0
    """In the model's words."""
    retried: int = 0
    """Of these, in the words of the second attempt."""
    scripted: int = 0
    """In the words of the script, because no answer passed the check."""


class LanguageUser:
    """Words for a scripted user by a language model.

    The world still decides every answer, all state changes, and the end of the conversation. `problems` checks the
    model's words. Words that fail the check twice are replaced by those of the script, and counted.

    Args:
        address: ``openai:MODEL``, ``openai:MODEL@URL``, or ``replay:DIR`` for answers that were recorded before.
        folder: Folder for the answers (``answers``) and the ledger (``requests.jsonl``). A request that was answered
            before is not sent again. A temporary folder when None.
        temperature: Sampling temperature. The seed of the scenario is sent along.
        budget: Limit of tokens or dollars.
        price: Price of the model's tokens; a budget in dollars needs it.
        tell: Receives a line about each failed request.

    Raises:
        ConfigError: The address is not valid, there is no key, or the temperature or a limit is not valid.
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
        tell: Callable[[str], None] = tell_on_stderr,
    ) -> None:
        if not 0 <= temperature < float("inf"):
            raise ConfigError(f"the temperature of the user is not valid: found {temperature}, expected 0 or more")
        self._made_with = {"folder": folder, "temperature": temperature, "price": price, "tell": tell}
        self.address, self.temperature = address, temperature
        self._limited = budget is not None and budget.limited
        self.folder = folder or Path(mkdtemp(prefix="trace-gym-user-"))
        if folder is None:
            weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.ledger = self.folder / "requests.jsonl"
        self._model = _Answering(
            resolve(
                address,
                cache=self.folder / "answers",
                ledger=self.ledger,
                budget=budget,
                price=price,
                concurrency=CONCURRENCY,
                timeout=TIMEOUT,
                retries=RETRIES,
                patience=PATIENCE,
                tell=tell,
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
        """Return the same object: copies of an episode or of an environment share the model, its budget and counts."""
        return self

    def __reduce__(self) -> tuple[Callable[..., LanguageUser], tuple[str, dict[str, Any]]]:
        """Pickle the settings; a copy in another process opens the model again.

        Raises:
            ConfigError: There is a budget, which processes cannot share.
        """
        if self._limited:
            raise ConfigError(
                f"{self.name} has a budget and cannot be copied to another process. Use threads, or no budget"
            )
        return _again, (self.address, self._made_with)

    def speak(self, scenario: Scenario, script: Sequence[str], conversation: Sequence[Message]) -> Spoken:
        """Return the model's words for the last message of the script, or the script's own.

        Raises:
            UserUnavailable: The model did not answer.
            BudgetSpent: The next request might cost more than is left.
            ConfigError: The endpoint refuses the key, or does not serve the model.
            ReadError: The file that contains the answer is damaged.
        """
        agent = agent_texts(conversation)

        def read(text: str) -> str:
            reply = _bare(text)
            if found := problems(script, agent, reply):
                raise ModelError("; ".join(found))
            return reply

        request = Request(
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
        """Return one line about the messages and what they took."""
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
    """A model whose empty answers are answers, recorded as such, so that a replay finds them."""

    def __init__(self, model: Resolved, recordings: Recordings) -> None:
        self._model, self._recordings = model, recordings

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, request: Request) -> Completion:
        try:
            return self._model.complete(request)
        except EmptyAnswer:
            empty = Completion(text="", model=self.name, finish="empty")
            self._recordings.save(request, empty)
            return empty


def _again(address: str, settings: dict[str, Any]) -> LanguageUser:
    return LanguageUser(address, **settings)


def _bare(text: str) -> str:
    """Return a reply without reasoning, surrounding quotation marks and line breaks."""
    reply = " ".join(text.rpartition("</think>")[2].split())
    for opening, closing in ('""', "\u201c\u201d", "''"):
        inside = reply[1:-1]
        if len(reply) > 1 and reply[0] == opening and reply[-1] == closing and not {opening, closing} & set(inside):
            return inside.strip()
    return reply
