"""Client that samples token ids from one vLLM server. It continues after a restart of the server."""

from __future__ import annotations

import json
import logging
import os
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Event, Lock
from typing import Any, TypeVar
from urllib.parse import urlsplit
from weakref import finalize

from trace_gym.errors import ConfigError, MissingExtra, Unavailable
from trace_gym.llm.dialect import overflows
from trace_gym.llm.retries import is_temporary, next_pause, retry_after
from trace_gym.sampling.last_words import GAVE_UP
from trace_gym.sampling.sampled import BadAnswer, SampledTokens, read_sampled, shown
from trace_gym.sampling.serving import HOW, versioned_name
from trace_gym.sampling.truncation import ALL_TOKENS, Truncation

TIMEOUT = 600.0
"""Time limit for one request in seconds."""
PATIENCE = 900.0
"""Time limit in seconds for all attempts at one request. A server needs minutes to load a large model again."""
REFUSALS = 3
"""Number of times that a request is repeated even though the failure seems permanent, because the server refused the
request or its answer is not usable."""
CONNECT_SECONDS = 15.0
PAUSES = {"first": 0.5, "longest": 15.0, "longest_wait": 120.0}
"""Pauses between retries in seconds (see `next_pause`)."""
UNSHAPED = {
    "top_p": 1.0,
    "top_k": -1,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
}
"""Request fields for sampling from the whole distribution. They override the model's ``generation_config.json``."""
Result = TypeVar("Result")
_log = logging.getLogger(__name__)


class VLLMServer:
    """Client of a vLLM server.

    A request that fails is repeated until `patience` is exhausted. If the server was restarted in the meantime, it has
    lost its adapters, so the current adapter is loaded again. Methods can be called from several threads.

    Args:
        url: URL of the server, such as ``http://127.0.0.1:8000/v1``.
        model: Name of the base model at the server.
        timeout: Time limit for one request in seconds.
        patience: Time limit in seconds for all attempts at one request, including the pauses between them.

    Raises:
        MissingExtra: The openai package is not installed.
    """

    def __init__(self, url: str, model: str, *, timeout: float = TIMEOUT, patience: float = PATIENCE) -> None:
        try:
            import openai
        except ImportError:
            raise MissingExtra("the openai package is not installed. Run: pip install openai") from None
        self.url, self.base, self.patience = url, model, patience
        # Name of the model or adapter that requests use, and the folder of the adapter. The pair is replaced as a
        # whole, so that a request in another thread never combines one adapter's name with another's folder.
        self._current: tuple[str, Path | None] = (model, None)
        self._loading, self._counting = Lock(), Lock()
        self._busy: Counter[str] = Counter()
        self._old: set[str] = set()
        self._failing = False
        limits = openai.Timeout(timeout, connect=min(timeout, CONNECT_SECONDS))
        key = os.environ.get("OPENAI_API_KEY") or "none"
        http = openai.DefaultHttpxClient(trust_env=not is_local(url))  # no proxy reaches this machine
        finalize(self, http.close)
        self._client = openai.OpenAI(api_key=key, base_url=url, max_retries=0, timeout=limits, http_client=http)

    @property
    def model(self) -> str:
        """Name of the model or adapter that requests use."""
        return self._current[0]

    def context_length(self) -> int | None:
        """Return the context length of the server in tokens, or None if the server does not state it.

        Raises:
            Unavailable: The server did not answer.
            ConfigError: The server does not serve the model, or rejects the key.
        """
        served = self._with_retries(self._models, Event())
        if self.base not in served:
            raise ConfigError(
                f"the server {self.url} does not serve the model {self.base}: found {', '.join(served) or 'no model'}. "
                "Correct the model name in the setting endpoint"
            )
        found = served[self.base]  # an adapter has no length, but names the model that has one
        length = found.get("max_model_len") or served.get(str(found.get("parent")), {}).get("max_model_len")
        return length if isinstance(length, int) else None

    def use(self, folder: Path, name: str | None = None) -> None:
        """Load an adapter, confirm it with a request for one token, and use it for all later requests.

        Args:
            folder: Folder of the adapter. The server must be able to read it.
            name: Name of the adapter at the server. Adapters with different weights must have different names. By
                default, the name contains a hash of the weights.

        Raises:
            Unavailable: The server did not load the adapter, or the adapter does not answer.
            ReadError: The folder is not an adapter.
            ConfigError: The server rejects the key.
        """
        name, stop = name or versioned_name(folder), Event()
        self._with_retries(lambda: self._load(name, folder), stop)
        previous = self._current
        self._current = (name, folder)
        try:
            self.sample([0], limit=1, temperature=1.0, seed=0, end=0, stop=stop, among=ALL_TOKENS)
        except BaseException:
            self._current = previous
            self._old.add(name)
            raise
        self._old |= {previous[0]} - {self.base}

    def unload_old(self) -> None:
        """Unload the adapters that were replaced, except those that a request still uses. Errors are only logged."""
        with self._counting:
            unused = {name for name in self._old - {self.model} if not self._busy[name]}
            self._old -= unused
        for name in unused:
            self._unload(name)

    def release(self) -> None:
        """Use the base model again, and unload all adapters that `use` has loaded."""
        self._old |= {self.model} - {self.base}
        self._current = (self.base, None)
        self.unload_old()

    def sample(
        self, prompt: list[int], *, limit: int, temperature: float, seed: int, end: int, stop: Event, among: Truncation
    ) -> SampledTokens:
        """Return the token ids of one turn and their log-probabilities.

        Args:
            prompt: Token ids of the conversation.
            limit: Maximum number of tokens.
            temperature: Sampling temperature; 0 is greedy.
            seed: Seed of the request.
            end: Token that ends the turn. It is the last token of the result, unless `limit` was reached.
            stop: Event that ends the attempts, so that a rollout that has failed does not wait for its other episodes.
            among: The tokens from which the model is sampled.

        Raises:
            Unavailable: All attempts failed, or the server cannot be restarted.
            ConfigError: The conversation exceeds the context length of the server, or the server rejects the key.
        """
        body = {"prompt": prompt, "max_tokens": limit, "temperature": temperature, "seed": seed, "logprobs": 0}
        body |= {"ignore_eos": True, "stop_token_ids": [end], "skip_special_tokens": False, "return_token_ids": True}
        body |= UNSHAPED | among.fields
        return self._with_retries(lambda: read_sampled(self._complete(body), prompt, limit, end), stop)

    def scales_logprobs(self, prompt: list[int], temperature: float) -> bool:
        """Return whether the log-probabilities that the server returns are those at the sampling temperature."""
        at_one, scaled = self._gap(prompt, 1.0), self._gap(prompt, temperature)
        return abs(at_one - scaled * temperature) < abs(at_one - scaled)

    def _gap(self, prompt: list[int], temperature: float) -> float:
        """Return the difference of the two highest log-probabilities after a prompt.

        The difference is inversely proportional to the temperature if the server scales the log-probabilities.
        """
        body = {"prompt": prompt, "max_tokens": 1, "temperature": temperature, "seed": 0, "logprobs": 2}
        body |= UNSHAPED | {"return_tokens_as_token_ids": True}

        def gap() -> float:
            text = self._complete(body)
            try:
                values = sorted(json.loads(text)["choices"][0]["logprobs"]["top_logprobs"][0].values())
                return float(values[-1] - values[-2])
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                raise BadAnswer(f"found {shown(text)!r}, expected a completion with top_logprobs") from None

        return self._with_retries(gap, Event())

    def _complete(self, body: dict[str, Any]) -> str:
        """Send a completion request to the current model, and return the body of the response.

        If the server was restarted and therefore lacks the adapter, the adapter is loaded again.
        """
        import openai

        with self._counting:
            name, folder = self._current
            self._busy[name] += 1
        try:
            request = {"model": name, **body}
            try:
                return self._client.post("/completions", cast_to=str, body=request)
            except openai.NotFoundError:
                if folder is None:
                    raise
                self._load(name, folder)
            return self._client.post("/completions", cast_to=str, body=request)
        finally:
            with self._counting:
                self._busy[name] -= 1

    def _load(self, name: str, folder: Path) -> None:
        import openai

        with self._loading:  # after a restart, all conversations notice the loss of the adapter at the same time
            if name in self._models():
                return
            body = {"lora_name": name, "lora_path": str(folder.resolve())}
            try:
                self._client.post("/load_lora_adapter", cast_to=str, body=body)
            except openai.APIStatusError:
                if name not in self._models():  # another process may have loaded the adapter at the same time
                    raise

    def _unload(self, name: str) -> None:
        import openai

        try:
            brief = self._client.with_options(timeout=CONNECT_SECONDS)
            brief.post("/unload_lora_adapter", cast_to=str, body={"lora_name": name})
        except openai.OpenAIError as error:
            _log.info("%s did not unload the adapter %s: %s", self.url, name, error)

    def _models(self) -> dict[str, dict[str, Any]]:
        """Return the models that the server offers, by name."""
        text = self._client.get("/models", cast_to=str)
        try:
            return {str(model["id"]): dict(model) for model in json.loads(text)["data"]}
        except (ValueError, LookupError, TypeError, RecursionError):
            raise BadAnswer(f"found {shown(text)!r}, expected a list of models") from None

    def _with_retries(self, send: Callable[[], Result], stop: Event) -> Result:
        """Return the result of `send`, which is repeated after failures."""
        import openai

        began, refused, advice = time.monotonic(), 0, ""
        for attempt in count(1):
            wait = None
            try:
                result = send()
                self._failing = False
                return result
            except openai.APIStatusError as error:
                failure = f"status {error.status_code}, {shown(error.response.text)}"
                _raise_hopeless(error, f"{self.url} rejects the request: found {failure}")
                if not is_temporary(error.status_code, error.code, error.response.headers.get):
                    refused, advice = refused + 1, f" {HOW}"
                wait = retry_after(error.response.headers.get)
            except BadAnswer as error:
                failure, refused = str(error), refused + 1
            except openai.OpenAIError as error:
                failure = f"{error} {error.__cause__ or ''}".strip()
            patient = refused <= REFUSALS and time.monotonic() - began < self.patience
            pause = next_pause(min(attempt, 30), 30, wait, **PAUSES) if patient else None
            if pause is not None and not self._failing:  # one message per outage, not one per conversation
                self._failing = True
                _log.warning("%s: %s. Retrying for up to %.0f s", self.url, failure, self.patience)
            if pause is None or stop.wait(pause):
                raise Unavailable(
                    f"{self.url} failed on {attempt} attempts at a request to {self.model}: {failure}. No episode was "
                    f"scored. Start or correct the server; the same command continues.{advice}"
                )
        raise AssertionError("this line is never reached: the last attempt returns or raises")


def is_local(url: str) -> bool:
    """Return whether a URL is an address of this machine."""
    return urlsplit(url).hostname in ("127.0.0.1", "::1", "localhost")


def _raise_hopeless(error: Any, message: str) -> None:
    """Raise an error if an HTTP error is permanent, so that retries with the same server and settings are useless.

    Raises:
        Unavailable: trace_gym started the server, and cannot restart it.
        ConfigError: The server rejects the key or the length of the conversation.
    """
    if error.status_code == GAVE_UP:
        reason = error.body.get("message") if isinstance(error.body, dict) else message
        raise Unavailable(f"{reason}\nNo episode was scored. Correct the problem; the same command continues") from None
    if error.status_code in (401, 403):
        raise ConfigError(f"{message}. Set OPENAI_API_KEY to the key of the server") from None
    if overflows(error.status_code, error.code or error.type, error.response.text[:2000]):
        raise ConfigError(f"{message}. Start the server with a --max-model-len that is at least max_tokens") from None
