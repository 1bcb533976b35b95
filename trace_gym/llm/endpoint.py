"""One exchange with an OpenAI-compatible endpoint: a request goes out, and an answer or a `Failed` comes back."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trace_gym.errors import ConfigError, EmptyAnswer, MissingExtra, ModelError
from trace_gym.llm.dialect import FORMS, Dialect, Form, overflows, retry_after, strict
from trace_gym.llm.request import Completion, Request, well_formed
from trace_gym.types import sha256

if TYPE_CHECKING:
    import openai

MOST_BYTES = 64 * 2**20
"""Of an answer; a server that never ends is cut here."""
MANY = 1000
"""Further attempts, where only the caller's patience counts."""
UNSENT = {"ConnectError", "ConnectTimeout", "PoolTimeout"}
"""Errors before anything was sent, so that nothing was paid."""
GAVE_UP = {408, 502, 504, 524}
"""Statuses of a gateway that stopped waiting: the model behind it may have answered, and the answer may be paid."""


class Failed(Exception):
    """A request that was sent and brought no answer.

    Args:
        says: What happened.
        again: How many further attempts are worth their price.
        wait: Seconds after which the server wants to be asked again.
        paid: What the answer, of no use, took; None where nobody knows and it may be paid.
        final: The error to raise in the end.
    """

    def __init__(
        self,
        says: str,
        *,
        again: int = MANY,
        wait: float | None = None,
        paid: tuple[int, int] | None = (0, 0),
        final: type[ModelError | ConfigError] = ModelError,
    ) -> None:
        super().__init__(says)
        self.again, self.wait, self.paid, self.final = again, wait, paid, final


class Endpoint:
    """A model behind an OpenAI-compatible endpoint. The key comes from ``OPENAI_API_KEY`` alone.

    Args:
        model: The name that the endpoint serves.
        base_url: Such as ``http://127.0.0.1:8000/v1``; ``OPENAI_BASE_URL`` or OpenAI's when None.
        tell: Takes a line when the endpoint does not take something.

    Raises:
        MissingExtra: The openai package is not installed.
        ConfigError: There is no key, or the address is none.
    """

    def __init__(self, model: str, base_url: str | None, tell: Callable[[str], None]) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("the openai package is missing; pip install openai") from None
        self.model, self.tell = model, tell
        self._openai = openai
        url = checked_url(base_url or os.environ.get("OPENAI_BASE_URL", "").strip())
        # Local servers take any key, but the client refuses to start without one.
        self._secret = os.environ.get("OPENAI_API_KEY", "").strip()
        key = self._secret or ("none" if url else "")
        if not key or not key.isascii() or not key.isprintable():
            raise ConfigError(f"no usable key for {model}; set OPENAI_API_KEY, or OPENAI_BASE_URL for a local endpoint")
        # Retries are not left to the client: it does not tell of them, and one that times out may be paid.
        self.client = openai.OpenAI(api_key=key, base_url=url, max_retries=0)
        parts = urlsplit(str(self.client.base_url))
        self.where = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self._dialect = Dialect()
        self._forms: dict[str, Dialect] = {}

    def close(self) -> None:
        """Close its connections."""
        self.client.close()

    def send(self, request: Request, max_tokens: int | None, timeout: float) -> Completion:
        """The answer to a request, sent once, and again where the endpoint does not take how it was asked.

        Args:
            request: What is asked.
            max_tokens: Longest answer.
            timeout: Seconds until the answer must be complete; if it stops in the middle, as long again.

        Raises:
            Failed: There is none.
        """
        deadline = time.monotonic() + timeout
        schema = sha256(json.dumps(request.answer, sort_keys=True))
        dialect = self._forms.get(schema) or replace(self._dialect, form=_first_form(request))
        while True:
            try:
                completion = self._completion(self._post(dialect.fields(request, self.model, max_tokens), deadline))
            except self._openai.APIStatusError as error:
                failed = self._refused(error)
                following = dialect.without(str(failed), request.answer is not None)
                hopeless = overflows(error.status_code, error.code, str(failed))
                if error.status_code not in (400, 422, 501) or following is None or hopeless:
                    raise failed from None
                dialect = following
            else:
                self._learn(schema, dialect)
                return completion

    def _learn(self, schema: str, dialect: Dialect) -> None:
        """Remember what worked, and tell what did not."""
        if self._forms.get(schema) != dialect:
            if dialect.form in ("json_object", "text"):
                self.tell(f"{self.model} at {self.where} takes no JSON Schema; it is put into the prompt")
            if self._dialect.temperature and not dialect.temperature:
                self.tell(f"{self.model} at {self.where} takes no temperature; it uses its own")
            if self._dialect.seed and not dialect.seed:
                self.tell(f"{self.model} at {self.where} accepts no seed; its answers may differ from run to run")
            self._forms[schema] = self._dialect = dialect

    def _post(self, fields: dict[str, Any], deadline: float) -> bytes:
        """The body of the answer.

        Raises:
            Failed: It did not come, or not in time. A server that sends a byte now and then does not stay connected.
            openai.APIStatusError: The endpoint answered with an error.
        """
        left = max(deadline - time.monotonic(), 0.001)
        limits = self._openai.Timeout(left, connect=min(left, 15.0))
        body = bytearray()
        try:
            create = self.client.chat.completions.with_streaming_response.create
            with create(**fields, timeout=limits) as response:
                for chunk in response.iter_bytes():
                    body += chunk
                    if len(body) > MOST_BYTES:
                        raise Failed("the answer does not end", paid=None)
                    if time.monotonic() > deadline:
                        raise Failed("the answer was not complete in time", paid=None)
        except self._openai.APIConnectionError as error:
            cause = error.__cause__ or error
            unsent = type(cause).__name__ in UNSENT
            raise Failed(self._clean(f"{type(cause).__name__}: {cause}"), paid=(0, 0) if unsent else None) from None
        except _transport_errors() as error:
            raise Failed(self._clean(f"{type(error).__name__}: {error}"), paid=None) from None
        return bytes(body)

    def _refused(self, error: openai.APIStatusError) -> Failed:
        """What an HTTP error means."""
        status, headers = error.status_code, error.response.headers
        body = error.body if isinstance(error.body, dict) else {}
        says = self._clean(f"HTTP {status}: {body.get('message') or error.message}")
        if overflows(status, error.code, says):
            return Failed(f"the conversation is longer than the model's context ({says})", again=0)
        passing = status in (408, 409, 429) or status >= 500
        if status == 429 and error.code == "insufficient_quota":
            passing = False
        passing = {"true": True, "false": False}.get(headers.get("x-should-retry", ""), passing)
        final = ConfigError if status in (401, 403, 404) else ModelError
        paid = None if status in GAVE_UP else (0, 0)
        return Failed(says, again=MANY if passing else 0, wait=retry_after(headers.get), paid=paid, final=final)

    def _completion(self, body: bytes) -> Completion:
        """What the body says.

        Raises:
            Failed: It is no chat completion, or one without text.
        """
        try:
            data = json.loads(body)
            choice = data["choices"][0]
            message, usage = choice["message"], data.get("usage") or {}
            refusal, text = message.get("refusal"), _text(message.get("content"))
            finish = str(choice.get("finish_reason") or "stop")
            prompt, answer = (_count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # ValueError: giant integers
            shown = self._clean(repr(body[:200].decode("utf-8", "replace")))
            raise Failed(f"the answer is no chat completion: {shown}", paid=None) from None
        paid = (prompt, answer) if prompt + answer else None
        if not text.strip() and not refusal:
            if finish == "length":
                says = "max_tokens was used up before anything was said; raise it"
                raise Failed(says, again=0, paid=paid, final=EmptyAnswer)
            again = 0 if finish == "content_filter" else 2  # each of them may be paid
            says = f"the answer is empty (finish_reason {finish})"
            raise Failed(says, again=again, paid=paid, final=EmptyAnswer)
        return Completion(
            text=well_formed(text if text.strip() else str(refusal)),
            model=f"openai:{self.model}",
            served=well_formed(str(data.get("model") or "")),
            finish="refusal" if not text.strip() else well_formed(finish),
            prompt_tokens=prompt,
            completion_tokens=answer,
        )

    def _clean(self, text: str) -> str:
        """A server's words, bounded, without the key, which some repeat."""
        told = text.replace(self._secret, "***") if self._secret else text
        return well_formed(" ".join(told.split())[:500])


def checked_url(url: str) -> str | None:
    """The URL of an endpoint, or None where none is given."""
    if not url:
        return None
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise ConfigError(f"{url} is no address of an endpoint; expected one such as http://127.0.0.1:8000/v1")
    return url


def _first_form(request: Request) -> Form:
    return FORMS[0] if request.answer is None or strict(request.answer) is not None else FORMS[1]


def _text(content: Any) -> str:
    """The text of a message, which some servers send in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    return str(content or "")


def _count(tokens: Any) -> int:
    return tokens if isinstance(tokens, int) and tokens > 0 else 0


def _transport_errors() -> tuple[type[Exception], ...]:
    """What reading a body may raise: of httpx2, under openai since 3, or of httpx, before."""
    loaded = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    return (OSError, *(module.HTTPError for module in loaded))
