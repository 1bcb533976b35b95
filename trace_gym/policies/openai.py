"""A policy behind an OpenAI-compatible endpoint: OpenAI itself, vLLM, a router's proxy, any other."""

from __future__ import annotations

import logging
import os
import random
import re
import time
from typing import Any

from trace_gym.episode import Action, Episode
from trace_gym.errors import ConfigError, ContextOverflow, MissingExtra, PolicyError, Unavailable
from trace_gym.llm.dialect import Dialect, overflows, retry_after

MALFORMED = re.compile(r"tool_use_failed|failed_generation|(parsing|parse|invalid) tool.?call", re.IGNORECASE)
"""What servers write when they cannot parse the model's own tool call: Groq, Ollama, llama.cpp."""
QUOTA = "insufficient_quota"
"""Code of a rate limit that does not pass."""
LIMITS = ("max_tokens", "max_completion_tokens")
CONNECT_SECONDS = 15.0
"""Time limit for a connection."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
"""Seconds between two requests, doubled each time, unless the server asks for another pause."""
LONGEST_WAIT = 120.0
"""Longest pause in seconds that a server may ask for."""

_log = logging.getLogger(__name__)


class OpenAIPolicy:
    """Sends the messages and tools of an episode and returns the assistant message.

    A failure of the agent is scored, as with `HFPolicy`: a conversation that no longer fits into the context ends the
    episode, and a turn that the server cannot parse is a malformed turn. A failure of the server is not scored.

    Args:
        model: The name that the endpoint serves.
        base_url: The endpoint, such as ``http://127.0.0.1:8000/v1``; the environment's or OpenAI's when None.
        api_key: The key; ``OPENAI_API_KEY`` when None. A local endpoint needs none.
        max_retries: How often a request is repeated, with growing pauses, before the episode is given up. A request is
            repeated if the server cannot be reached, is overloaded, fails, or answers with something else than a
            completion.
        timeout: Seconds for one request.
        conversation_tokens: Budget of a whole conversation, as `HFPolicy.max_tokens`. It is compared with the
            server's own count; None leaves it to the server's context.
        options: More fields of the request, such as ``temperature=0.0`` or ``max_tokens=512``, which cuts a turn.

    Raises:
        MissingExtra: The openai package is not installed.
        ConfigError: There is no key.
    """

    remote = True

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        max_retries: int = 4,
        timeout: float = 120.0,
        conversation_tokens: int | None = None,
        **options: Any,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("the openai package is missing; pip install openai") from None
        self.name = model
        self.options = options
        self.conversation_tokens = conversation_tokens
        self.max_retries = max_retries
        self._dialect = Dialect()
        self._told_of_cut = False
        self._errors = openai.OpenAIError
        self._refusal = openai.APIStatusError
        self._unreachable = openai.APIConnectionError
        self._hopeless = (openai.AuthenticationError, openai.PermissionDeniedError, openai.NotFoundError)
        # Local servers take any key, but the client refuses to start without one.
        key = api_key or os.environ.get("OPENAI_API_KEY") or ("none" if base_url else None)
        try:
            limits = openai.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
            # The client repeats no request by itself, as it takes any body with status 200 for an answer.
            self.client = openai.OpenAI(api_key=key, base_url=base_url, max_retries=0, timeout=limits)
        except openai.OpenAIError as error:
            raise ConfigError(f"{error}; set OPENAI_API_KEY, or pass base_url for a local endpoint") from None

    @property
    def temperature(self) -> float | None:
        """The temperature of the requests; None where the endpoint's own applies."""
        return self.options.get("temperature")

    def act(self, episode: Episode) -> Action:
        """The endpoint's turn, as an assistant message.

        Raises:
            Unavailable: The request failed max_retries + 1 times.
            PolicyError: The endpoint refuses the request.
            ContextOverflow: The conversation does not fit into the context, or exceeds `conversation_tokens`.
            ConfigError: The endpoint refuses the key, does not serve the model, or refuses an option; or the opening
                does not fit.
        """
        request: dict[str, Any] = {"model": self.name, "messages": episode.messages, **self.options}
        if episode.tools:
            request["tools"] = list(episode.tools)
        where = f"{self.client.base_url} ({self.name})"
        try:
            completion = self._send(request, where)
        except ConfigError:
            raise
        except ContextOverflow as overflow:
            raise _of_opening(episode, overflow) from None
        except self._hopeless as error:
            raise ConfigError(f"{where} refuses every request: {error}; check the key, base_url and model") from None
        except self._refusal as error:
            if (turn := _unparsed(error)) is not None:
                return turn
            kind = Unavailable if _is_passing(error) or error.code == QUOTA else PolicyError
            raise kind(f"{where} failed on {episode.scenario}: {type(error).__name__}: {error}") from error
        except _NoCompletion as error:
            raise Unavailable(f"{where} answered {episode.scenario} without a completion: {error}") from None
        except self._errors as error:
            says = f"{error} {error.__cause__ or ''}".strip()
            raise Unavailable(f"{where} failed on {episode.scenario}: {type(error).__name__}: {says}") from error
        self._refuse_overflow(completion, episode, where)
        return _turn(completion)

    def _send(self, request: dict[str, Any], where: str) -> Any:
        """The completion of a request, asked again in the way that the endpoint accepts."""
        while True:
            asked = self._worded(request)
            try:
                return self._repeated(asked)
            except self._refusal as error:
                code, says = error.code or error.type, f"{error} {error.response.text[:2000]}"
                if overflows(error.status_code, code, says):
                    limited = [name for name in LIMITS if name in request]
                    if not limited:
                        raise ContextOverflow(f"{where} refuses it: {says}") from None
                    # Perhaps the prompt fits, and only the longest turn does not: ask for what is left.
                    request = {k: v for k, v in request.items() if k not in limited}
                    continue
                following = self._dialect.without(says, False) if error.status_code in (400, 422) else None
                if following is None or following == self._dialect:
                    raise
                if self._dialect.temperature and not following.temperature and request.get("temperature") != 1:
                    raise ConfigError(f"{where} refuses the temperature {request.get('temperature')}: {says}") from None
                self._dialect = following

    def _repeated(self, asked: dict[str, Any]) -> Any:
        """The completion of a request that is repeated while the failure may pass."""
        for left in range(self.max_retries, -1, -1):
            wait = None
            try:
                raw = self.client.chat.completions.with_raw_response.create(**asked)
                wait = retry_after(raw.headers.get)
                return _completion(raw)
            except (self._unreachable, self._refusal, _NoCompletion) as error:
                if isinstance(error, self._refusal):
                    wait = retry_after(error.response.headers.get)
                    if not _is_passing(error):
                        raise
                if not left or (wait or 0) > LONGEST_WAIT:
                    raise
            pause = min(FIRST_PAUSE * 2 ** (self.max_retries - left), LONGEST_PAUSE) * random.uniform(0.75, 1.0)
            time.sleep(wait or pause)
        raise AssertionError("the last request returns or raises")

    def _worded(self, request: dict[str, Any]) -> dict[str, Any]:
        """The request as the endpoint accepts it."""
        names = {"max_tokens": self._dialect.limit}
        dropped = () if self._dialect.temperature else ("temperature",)
        return {names.get(name, name): value for name, value in request.items() if name not in dropped}

    def _refuse_overflow(self, completion: Any, episode: Episode, where: str) -> None:
        """Raise ContextOverflow if the turn was cut because the context, and not the turn's own limit, was full."""
        usage = getattr(completion, "usage", None)
        total, written = getattr(usage, "total_tokens", None), getattr(usage, "completion_tokens", None)
        if self.conversation_tokens is not None:
            if not isinstance(total, int):
                raise ConfigError(f"{where} does not count tokens, so a limit of the conversation has no effect")
            if total >= self.conversation_tokens:
                overflow = ContextOverflow(f"it has {total} tokens, and the budget is {self.conversation_tokens}")
                raise _of_opening(episode, overflow) if total - (written or 0) >= self.conversation_tokens else overflow
        limit = next((self.options[name] for name in LIMITS if self.options.get(name)), None)
        cut_by_limit = limit is not None and (written is None or written >= limit)
        if completion.choices[0].finish_reason == "length" and not cut_by_limit:
            after = f" after {written} tokens" if isinstance(written, int) else ""
            before = f"before its limit of {limit} tokens" if limit else "although it has no limit"
            says = f"{where} cut a turn{after} (finish_reason length), {before}"
            self._tell_of_cut(says)
            raise ContextOverflow(says)

    def _tell_of_cut(self, says: str) -> None:
        """Log the first turn that the server cut by itself."""
        if not self._told_of_cut:
            self._told_of_cut = True
            _log.warning(
                "%s: found the server's own limit of a turn, or a full context. The conversation ends there and is "
                "scored, with a note in its record. Pass --max-turn-tokens (max_tokens in Python), or raise the "
                "server's limit",
                says,
            )


class _NoCompletion(Exception):
    """A successful HTTP response that does not contain a chat completion."""


def _completion(raw: Any) -> Any:
    """Return the completion in a response.

    Raises:
        _NoCompletion: The response does not contain one.
    """
    try:
        completion = raw.parse()
        _turn(completion)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):  # ValueError: also of giant integers
        shown = " ".join(raw.http_response.content[:200].decode("utf-8", "replace").split())
        raise _NoCompletion(f"found {shown!r}") from None
    return completion


def _turn(completion: Any) -> dict[str, Any]:
    """Return the assistant message of a completion."""
    message = completion.choices[0].message
    turn = {"role": "assistant", "content": message.content or getattr(message, "refusal", None)}
    # Some servers send the arguments as an object, of which pydantic warns.
    calls = [c.model_dump(exclude_none=True, warnings=False) for c in message.tool_calls or ()]
    return turn | ({"tool_calls": calls} if calls else {})


def _is_passing(error: Any) -> bool:
    """Return whether a refusal may pass, so that the request is worth repeating."""
    says = f"{error} {error.response.text[:2000]}"
    if (
        error.code == QUOTA
        or overflows(error.status_code, error.code or error.type, says)
        or _unparsed(error) is not None
    ):
        return False
    asked = {"true": True, "false": False}.get(error.response.headers.get("x-should-retry", ""))
    return (error.status_code in (408, 409, 429) or error.status_code >= 500) if asked is None else asked


def _of_opening(episode: Episode, overflow: ContextOverflow) -> ContextOverflow | ConfigError:
    """The error for a conversation that does not fit: before the first turn it is the setup, and not the agent."""
    if episode.turns:
        return overflow
    return ConfigError(f"{episode.scenario}: the opening does not fit: {overflow}. Raise max_tokens, or the context")


def _unparsed(error: Any) -> Action | None:
    """The turn of a model whose tool call the server could not parse; None for other refusals."""
    body = error.body if isinstance(error.body, dict) else {}
    if error.status_code not in (400, 422, 500) or not MALFORMED.search(f"{error.code} {error}"):
        return None
    written = body.get("failed_generation")
    return f"<tool_call>{written or ''}"
