"""Policy for OpenAI-compatible endpoints, such as OpenAI, vLLM or the proxy of a router."""

from __future__ import annotations

import logging
import os
import time
import weakref
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError, ContextOverflow, MissingExtra, PolicyError, Unavailable
from trace_gym.llm.dialect import Dialect, overflows
from trace_gym.llm.request import cleaned
from trace_gym.llm.retries import QUOTA, next_pause, retry_after
from trace_gym.policies.completions import NoCompletion, completion_in, is_passing, turn_of, unparsed_turn
from trace_gym.policies.request_log import RequestLog
from trace_gym.threads import CONCURRENCY

LIMITS = ("max_tokens", "max_completion_tokens")
"""Names of the request field for the maximum length of a turn. Endpoints support one name or the other."""
CONNECT_SECONDS = 15.0
"""Connection timeout in seconds."""
PAUSES = {"first": 0.5, "longest": 8.0, "longest_wait": 120.0}
"""Pauses between retries in seconds (see `next_pause`)."""

_log = logging.getLogger(__name__)


class OpenAIPolicy:
    """A `Policy` that sends the messages and tools of an episode to an endpoint and returns the assistant message.

    Failures of the model are scored, as with `HFPolicy`. If the conversation no longer fits into the context, the
    episode ends. If the server cannot parse a turn, the turn counts as malformed. Failures of the server are not
    scored.

    Args:
        model: Name of the model at the endpoint.
        name: Name of the policy, stored in `Trajectory.model`; the name of the model if None.
        base_url: URL of the endpoint, such as ``http://127.0.0.1:8000/v1``. None for the environment variable
            ``OPENAI_BASE_URL``, or OpenAI.
        api_key: API key; None for the environment variable ``OPENAI_API_KEY``. A local endpoint does not require a key.
        max_retries: Maximum number of retries of a request, with increasing pauses, before the episode is abandoned. A
            request is retried if the server cannot be reached, is overloaded, fails, or returns something other than a
            completion.
        timeout: Timeout for one request in seconds.
        conversation_tokens: Maximum number of tokens of a conversation, according to the token count of the server.
            None for no limit other than the server's context length.
        log: Log of the requests, with one line per attempt.
        options: Additional fields of the request, such as ``temperature=0.0`` or ``max_tokens=512`` (limit of a turn).

    Raises:
        MissingExtra: The openai package is not installed.
        ConfigError: No API key is set.
    """

    remote = True
    concurrency: int = CONCURRENCY
    """Maximum number of conversations at the same time."""

    def __init__(
        self,
        model: str,
        *,
        name: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        max_retries: int = 4,
        timeout: float = 120.0,
        conversation_tokens: int | None = None,
        log: RequestLog | None = None,
        **options: Any,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("the openai package is missing; pip install openai") from None
        self.model = model
        self.name = name or model
        self.options = options
        self.conversation_tokens = conversation_tokens
        self.max_retries = max_retries
        secret = (api_key or os.environ.get("OPENAI_API_KEY") or "").strip()
        self.requests = replace(log or RequestLog(), secret=secret)
        self._dialect = Dialect()
        self._logged_truncation = False
        self._errors = openai.OpenAIError
        self._refusal = openai.APIStatusError
        self._unreachable = openai.APIConnectionError
        self._hopeless = (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)
        # Local servers accept any key, but the client requires a key.
        key = api_key or os.environ.get("OPENAI_API_KEY") or ("none" if base_url else None)
        try:
            limits = openai.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
            # The retries of the client are disabled; see `trace_gym.llm.retries`.
            self.client = openai.OpenAI(api_key=key, base_url=base_url, max_retries=0, timeout=limits)
            weakref.finalize(self, self.client.close)
        except openai.OpenAIError as error:
            raise ConfigError(f"{error}. Set OPENAI_API_KEY, or pass base_url for a local endpoint") from None

    @property
    def temperature(self) -> float | None:
        """Temperature of the requests; None for the default of the endpoint."""
        return self.options.get("temperature")

    def act(self, episode: Episode) -> Action:
        """Return the endpoint's turn, as an assistant message.

        Raises:
            Unavailable: The request failed max_retries + 1 times.
            PolicyError: The endpoint rejects the request.
            ContextOverflow: The conversation does not fit into the context, or exceeds `conversation_tokens`.
            ConfigError: The endpoint rejects the key or an option, or does not serve the model; or the initial
                observation does not fit into the context.
        """
        request: dict[str, Any] = {"model": self.model, "messages": episode.messages, **self.options}
        if episode.tools:
            request["tools"] = list(episode.tools)
        where = f"{self.client.base_url} ({self.model})"
        try:
            completion = self._send(request, where, f"{episode.scenario}, turn {episode.turns + 1}")
        except ConfigError:
            raise
        except ContextOverflow as overflow:
            raise _overflow_error(episode, overflow) from None
        except self._hopeless as error:
            raise ConfigError(
                f"{where} rejects every request: {self._shown(error)}. Check the API key, base_url and the model name"
            ) from None
        except self._refusal as error:
            if (turn := unparsed_turn(error)) is not None:
                return turn
            kind = Unavailable if is_passing(error) or error.code == QUOTA else PolicyError
            message = self._shown(error)
            raise kind(f"{where} failed on {episode.scenario}: {type(error).__name__}: {message}") from error
        except NoCompletion as error:
            raise Unavailable(f"{where} returned no completion for {episode.scenario}: {self._shown(error)}") from None
        except self._errors as error:
            message = self._shown(f"{error} {error.__cause__ or ''}")
            raise Unavailable(f"{where} failed on {episode.scenario}: {type(error).__name__}: {message}") from error
        self._refuse_overflow(completion, episode, where)
        return turn_of(completion)

    def _send(self, request: dict[str, Any], where: str, turn: str) -> Any:
        """Return the completion of a request. If the endpoint rejects its parameters, adapt the request and retry."""
        while True:
            adapted = self._adapted(request)
            try:
                return self._with_retries(adapted, turn)
            except self._refusal as error:
                code, message = error.code or error.type, f"{error} {error.response.text[:2000]}"
                shown = self._shown(message)
                if overflows(error.status_code, code, message):
                    limited = [name for name in LIMITS if name in request]
                    if not limited:
                        raise ContextOverflow(f"{where} rejects the conversation: {shown}") from None
                    # The prompt may fit without the tokens reserved for the turn: send the request without this limit.
                    request = {k: v for k, v in request.items() if k not in limited}
                    continue
                following = self._dialect.fallback(message, False) if error.status_code in (400, 422) else None
                if following is None or following == self._dialect:
                    _refuse_truncation(request, error, f"{where} rejects the request: {shown}")
                    raise
                if self._dialect.temperature and not following.temperature and request.get("temperature") != 1:
                    raise ConfigError(
                        f"{where} rejects the temperature {request.get('temperature')}: {shown}. Choose another "
                        "temperature"
                    ) from None
                self._dialect = following

    def _with_retries(self, adapted: dict[str, Any], turn: str) -> Any:
        """Return the completion of a request; retry after temporary failures. Each attempt is logged."""
        for attempt in count(1):
            wait = None
            log = partial(self.requests.write, adapted, turn, attempt=attempt, started=time.monotonic())
            try:
                raw = self.client.chat.completions.with_raw_response.create(**adapted)
                wait = retry_after(raw.headers.get)
                completion = completion_in(raw)
                log(completion=completion)
                return completion
            except (self._unreachable, self._refusal, NoCompletion) as error:
                log(error=f"{type(error).__name__}: {error}")
                if isinstance(error, self._refusal):
                    wait = retry_after(error.response.headers.get)
                    if not is_passing(error):
                        raise
                pause = next_pause(attempt, self.max_retries, wait, **PAUSES)
                if pause is None:
                    raise
            time.sleep(pause)
        raise AssertionError("this line is never reached: the last request returns or raises")

    def _shown(self, error: object) -> str:
        """Return the text of an error on one line, without the API key and without characters that are not valid."""
        return cleaned(str(error), self.requests.secret)

    def _adapted(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the request with the parameter names that the endpoint accepts."""
        names = {"max_tokens": self._dialect.limit}
        dropped = () if self._dialect.temperature else ("temperature",)
        return {names.get(name, name): value for name, value in request.items() if name not in dropped}

    def _refuse_overflow(self, completion: Any, episode: Episode, where: str) -> None:
        """Check that the conversation does not exceed its limit, and that the server did not truncate the turn.

        A turn that was truncated at the requested `max_tokens` is accepted.

        Raises:
            ContextOverflow: The conversation exceeds `conversation_tokens`, or the server truncated the turn.
            ConfigError: The initial observation exceeds `conversation_tokens`, or the server returns no token count.
        """
        usage = getattr(completion, "usage", None)
        total, written = getattr(usage, "total_tokens", None), getattr(usage, "completion_tokens", None)
        if self.conversation_tokens is not None:
            if not isinstance(total, int):
                raise ConfigError(
                    f"{where} returns no token count (usage.total_tokens), which the setting conversation_tokens "
                    "requires. Remove conversation_tokens"
                )
            if total >= self.conversation_tokens:
                overflow = ContextOverflow(
                    f"the conversation has {total} tokens, expected fewer than {self.conversation_tokens}"
                )
                raise (
                    _overflow_error(episode, overflow)
                    if total - (written or 0) >= self.conversation_tokens
                    else overflow
                )
        limit = next((self.options[name] for name in LIMITS if self.options.get(name)), None)
        cut_by_limit = limit is not None and (written is None or written >= limit)
        if completion.choices[0].finish_reason == "length" and not cut_by_limit:
            after = f" after {written} tokens" if isinstance(written, int) else ""
            before = f"before the limit of {limit} tokens" if limit else "although no limit is set"
            message = f"{where} cut a turn{after} (finish_reason length), {before}"
            self._log_truncation(message)
            raise ContextOverflow(message)

    def _log_truncation(self, message: str) -> None:
        """Log a warning about the first turn that the server truncated before the requested limit was reached."""
        if not self._logged_truncation:
            self._logged_truncation = True
            _log.warning(
                "%s: the server limits the length of a turn, or the context is full. The conversation ends here and is "
                "scored, with a note in its record. Pass --max-turn-tokens (max_tokens in Python), or increase the "
                "server's limit",
                message,
            )


def _refuse_truncation(request: dict[str, Any], error: Any, message: str) -> None:
    """Raise an error if the endpoint rejects ``top_p`` or ``top_k``, and therefore every request."""
    given = {**request, **(request.get("extra_body") or {})}
    named = [name for name in ("top_p", "top_k") if name in given and name in message]
    if named and error.status_code in (400, 422) and unparsed_turn(error) is None:
        raise ConfigError(f"{message}. Remove {' and '.join(named)} from the settings of the model") from None


def _overflow_error(episode: Episode, overflow: ContextOverflow) -> ContextOverflow | ConfigError:
    """Return the error for a conversation that exceeds the context.

    Before the first turn, this is a `ConfigError`, because the initial observation alone is too long.
    """
    if episode.turns:
        return overflow
    return ConfigError(
        f"{episode.scenario}: the initial observation does not fit into the context: {overflow}. Increase max_tokens "
        "or the context length of the server"
    )
