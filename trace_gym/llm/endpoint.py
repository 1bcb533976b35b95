"""Client of an OpenAI-compatible endpoint. It sends one request and returns the answer or raises `RequestFailed`."""

from __future__ import annotations

import json
import os
import sys
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from trace_gym.errors import ConfigError, EmptyAnswer, MissingExtra, ModelError
from trace_gym.llm.dialect import FORMS, Dialect, Form, overflows, strict_schema
from trace_gym.llm.request import Completion, ModelRequest, cleaned, token_count, well_formed
from trace_gym.llm.retries import is_temporary, retry_after
from trace_gym.types import sha256

if TYPE_CHECKING:
    import openai

MAX_RESPONSE_BYTES = 64 * 2**20
"""Maximum size of a response body. A longer response is aborted."""
UNLIMITED_RETRIES = 1000
"""Number of retries if only the time limit of the caller applies."""
UNSENT = {"ConnectError", "ConnectTimeout", "PoolTimeout"}
"""Names of errors that occur before a request is sent, so that the request costs nothing."""
GATEWAY_TIMEOUTS = {408, 502, 504, 524}
"""HTTP statuses of gateway timeouts. The model may have answered, so the request may have been billed."""


class RequestFailed(Exception):
    """Failure of one attempt at a request.

    Args:
        message: Error message.
        max_retries: Maximum number of retries for this failure.
        wait: Number of seconds after which the server accepts a retry; None if unknown.
        billed_tokens: Number of prompt and completion tokens that the attempt used. None if unknown, in which case the
            maximum is assumed.
        error_type: Type of the error to raise if no retry succeeds.
    """

    def __init__(
        self,
        message: str,
        *,
        max_retries: int = UNLIMITED_RETRIES,
        wait: float | None = None,
        billed_tokens: tuple[int, int] | None = (0, 0),
        error_type: type[ModelError | ConfigError] = ModelError,
    ) -> None:
        super().__init__(message)
        self.max_retries, self.wait, self.billed_tokens, self.error_type = max_retries, wait, billed_tokens, error_type


class Endpoint:
    """Model behind an OpenAI-compatible endpoint. The key is read from ``OPENAI_API_KEY`` only.

    Args:
        model: Name of the model at the endpoint.
        base_url: URL such as ``http://127.0.0.1:8000/v1``. If None, ``OPENAI_BASE_URL`` or the URL of OpenAI is used.
        log: Function that receives a line if the endpoint does not support a field of the request.

    Raises:
        MissingExtra: The openai package is not installed.
        ConfigError: The key is missing, or the URL is not valid.
    """

    def __init__(self, model: str, base_url: str | None, log: Callable[[str], None]) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("the openai package is not installed. Run: pip install openai") from None
        self.model, self.log = model, log
        self._openai = openai
        url = checked_url(base_url or os.environ.get("OPENAI_BASE_URL", "").strip())
        # Local servers accept any key, but the client requires one.
        self._secret = os.environ.get("OPENAI_API_KEY", "").strip()
        key = self._secret or ("none" if url else "")
        if not key or not key.isascii() or not key.isprintable():
            raise ConfigError(
                f"there is no valid API key for the model {model!r}. To use the OpenAI API, set OPENAI_API_KEY; to use "
                "a local endpoint, set OPENAI_BASE_URL"
            )
        self.client = openai.OpenAI(api_key=key, base_url=url, max_retries=0)  # see `trace_gym.llm.retries`
        weakref.finalize(self, self.client.close)
        parts = urlsplit(str(self.client.base_url))
        self.where = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
        self._dialect = Dialect()
        self._forms: dict[str, Dialect] = {}

    def close(self) -> None:
        """Close the connections to the endpoint."""
        self.client.close()

    def send(self, request: ModelRequest, max_tokens: int | None, timeout: float) -> Completion:
        """Send a request and return the answer. If the endpoint rejects the request format, try the next format.

        Args:
            request: The request.
            max_tokens: Maximum length of the answer in tokens; None means the limit of the server.
            timeout: Time limit in seconds for the whole answer. If the server stops sending in the middle of an answer,
                the attempt can take up to twice as long.

        Raises:
            RequestFailed: The endpoint returned no valid answer.
        """
        deadline = time.monotonic() + timeout
        schema = sha256(json.dumps(request.answer, sort_keys=True))
        dialect = self._forms.get(schema) or replace(self._dialect, form=_first_form(request))
        while True:
            try:
                body = self._post(dialect.fields(request, self.model, max_tokens), deadline)
                completion = self._completion(body, bool(request.tools))
            except self._openai.APIStatusError as error:
                failed = self._refused(error)
                following = dialect.fallback(str(failed), request.answer is not None)
                hopeless = overflows(error.status_code, error.code, str(failed))
                if error.status_code not in (400, 422, 501) or following is None or hopeless:
                    raise failed from None
                dialect = following
            else:
                self._learn(schema, dialect)
                return completion

    def _learn(self, schema: str, dialect: Dialect) -> None:
        """Store the request format that worked, and log the fields that the endpoint does not support."""
        if self._forms.get(schema) != dialect:
            if dialect.form in ("json_object", "text"):
                self.log(
                    f"{self.model} at {self.where} does not support JSON schemas; the schema is added to the prompt"
                )
            if self._dialect.temperature and not dialect.temperature:
                self.log(f"{self.model} at {self.where} does not support a temperature; it uses its default")
            if self._dialect.seed and not dialect.seed:
                self.log(f"{self.model} at {self.where} does not support a seed; its answers may differ between runs")
            self._forms[schema] = self._dialect = dialect

    def _post(self, fields: dict[str, Any], deadline: float) -> bytes:
        """Send a request and return the body of the response.

        Raises:
            RequestFailed: The connection failed, or the response was too long or not complete before the deadline.
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
                    if len(body) > MAX_RESPONSE_BYTES:
                        raise RequestFailed(f"the answer exceeds {MAX_RESPONSE_BYTES:,} bytes", billed_tokens=None)
                    if time.monotonic() > deadline:
                        raise RequestFailed("the answer was not complete in time", billed_tokens=None)
        except self._openai.APIConnectionError as error:
            cause = error.__cause__ or error
            unsent = type(cause).__name__ in UNSENT
            raise RequestFailed(
                self._clean(f"{type(cause).__name__}: {cause}"), billed_tokens=(0, 0) if unsent else None
            ) from None
        except _transport_errors() as error:
            raise RequestFailed(self._clean(f"{type(error).__name__}: {error}"), billed_tokens=None) from None
        return bytes(body)

    def _refused(self, error: openai.APIStatusError) -> RequestFailed:
        """Convert an HTTP error to a `RequestFailed`."""
        status, headers = error.status_code, error.response.headers
        body = error.body if isinstance(error.body, dict) else {}
        message = self._clean(f"HTTP {status}: {body.get('message') or error.message}")
        if overflows(status, error.code, message):
            return RequestFailed(f"the conversation is longer than the model's context ({message})", max_retries=0)
        error_type = ConfigError if status in (401, 403, 404) else ModelError
        billed_tokens = None if status in GATEWAY_TIMEOUTS else (0, 0)
        return RequestFailed(
            message,
            max_retries=UNLIMITED_RETRIES if is_temporary(status, error.code, headers.get) else 0,
            wait=retry_after(headers.get),
            billed_tokens=billed_tokens,
            error_type=error_type,
        )

    def _completion(self, body: bytes, tools: bool) -> Completion:
        """Parse the body of a response. Tool calls are ignored if the request had no tools.

        Raises:
            RequestFailed: The body is not a valid chat completion, or contains neither text nor tool calls.
        """
        try:
            data = json.loads(body)
            choice = data["choices"][0]
            message, usage = choice["message"], data.get("usage") or {}
            refusal, text = message.get("refusal"), _text(message.get("content"))
            calls = _tool_calls(message.get("tool_calls")) if tools else ()
            finish = str(choice.get("finish_reason") or "stop")
            prompt, answer = (token_count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):  # ValueError: giant integers
            shown = self._clean(repr(body[:200].decode("utf-8", "replace")))
            raise RequestFailed(f"the answer is not a valid chat completion: {shown}", billed_tokens=None) from None
        billed_tokens = (prompt, answer) if prompt + answer else None
        if not text.strip() and not refusal and not calls:
            if finish == "length":
                reason = "the answer is empty: max_tokens was reached before any text. Raise max_tokens"
                raise RequestFailed(reason, max_retries=0, billed_tokens=billed_tokens, error_type=EmptyAnswer)
            retries = 0 if finish == "content_filter" else 2  # each attempt may be billed
            reason = f"the answer is empty (finish_reason {finish})"
            raise RequestFailed(reason, max_retries=retries, billed_tokens=billed_tokens, error_type=EmptyAnswer)
        return Completion(
            text=well_formed(text if text.strip() else str(refusal or "")),
            tool_calls=calls,
            model=f"openai:{self.model}",
            served=well_formed(str(data.get("model") or "")),
            finish="refusal" if refusal and not text.strip() else well_formed(finish),
            prompt_tokens=prompt,
            completion_tokens=answer,
        )

    def _clean(self, text: str) -> str:
        return cleaned(text, self._secret)


def checked_url(url: str) -> str | None:
    """Return the URL of an endpoint, or None if the string is empty.

    Raises:
        ConfigError: The URL is not valid.
    """
    if not url:
        return None
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        raise ConfigError(f"{url!r} is not a valid URL of an endpoint: expected a URL such as http://127.0.0.1:8000/v1")
    return url


def _first_form(request: ModelRequest) -> Form:
    return FORMS[0] if request.answer is None or strict_schema(request.answer) is not None else FORMS[1]


def _text(content: Any) -> str:
    """Return the text of a message. Some servers send a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content)
    return str(content or "")


def _tool_calls(calls: Any) -> tuple[dict[str, Any], ...]:
    """Return the tool calls of a message. Lone surrogates, which cannot be stored, become question marks."""
    return tuple(map(dict, json.loads(well_formed(json.dumps(calls or [], ensure_ascii=False)))))


def _transport_errors() -> tuple[type[Exception], ...]:
    """Return the types of the errors that may occur while the body of a response is read.

    Version 3 of the openai package uses httpx2, earlier versions use httpx.
    """
    loaded = [sys.modules[name] for name in ("httpx2", "httpx") if name in sys.modules]
    return (OSError, *(module.HTTPError for module in loaded))
