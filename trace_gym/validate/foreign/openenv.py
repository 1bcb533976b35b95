"""OpenEnv servers, over their WebSocket sessions.

The wire is two JSON messages, ``reset`` and ``step``, so that one small package serves instead of the openenv
distribution with its user interface and its MCP stack.
"""

from __future__ import annotations

import json
import math
import urllib.request
from contextlib import ExitStack, suppress
from typing import Any, ClassVar

from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.validate.foreign.address import Address, needed
from trace_gym.validate.foreign.box import BlackBox, Busy, Turn

SECONDS = 30.0
"""For the server to answer."""
REFUSED = {"VALIDATION_ERROR", "INVALID_JSON", "UNKNOWN_TYPE"}
"""Errors by which a server refuses an action that does not fit its schema; any other is a failure of its own."""
FULL = {"CAPACITY_REACHED", "SESSION_ERROR", "FACTORY_ERROR"}


class ServerError(RuntimeError):
    """The server answers that it failed."""


class OpenEnvBox(BlackBox):
    """``openenv:http://localhost:8000``.

    A turn that is a JSON object is the action; other text goes into the field of the action that takes text, which
    the server's schema shows and ``?field=message`` names. ``?limit=`` says how many turns an attempt has. A reward
    that is missing counts as 0, and the observation's ``metadata`` is not the agent's.
    """

    kind: ClassVar[str] = "an OpenEnv server"
    served: ClassVar[bool] = True

    def __init__(self, address: Address) -> None:
        connect = needed("websockets.sync.client", "openenv", address).connect
        self._error: type[Exception] = needed("websockets.exceptions", "openenv", address).WebSocketException
        options = dict(address.options)
        field = options.pop("field", None)
        if options:
            raise ConfigError(f"{address.text} has the option {min(options)}; expected field, low, high or limit")
        if not address.name.startswith(("http://", "https://")):
            raise ConfigError(f"{address.text} is no address of a server; expected openenv:http://HOST:PORT")
        base = address.name.rstrip("/")
        self.schema = _schema(base)
        self.field = str(field or text_field(self.schema) or "")
        url = f"ws{base.removeprefix('http')}/ws"
        self._open = ExitStack()
        try:
            session = connect(url, open_timeout=SECONDS, close_timeout=1, max_size=None, compression=None)
            self._socket: Any = self._open.enter_context(session)
        except (OSError, ValueError, self._error) as error:
            cause = f"{type(error).__name__}: {error}"
            raise EnvNotFound(f"{url} does not answer ({cause}); is the server running?") from None
        try:
            self._ask("state", {})  # a server that is full says so to the first message
        except ServerError:  # what it cannot tell of its state is not asked again
            return
        except Busy:
            self.close()
            raise

    def begin(self, seed: int) -> str:
        return self._turn(self._ask("reset", {"seed": seed})).observation

    def act(self, text: str) -> Turn:
        try:
            return self._turn(self._ask("step", self._action(text)))
        except Refused as refusal:
            return Turn(f"Error: {refusal}", 0.0, False)

    def _action(self, text: str) -> dict[str, Any]:
        try:
            action = json.loads(text)
        except (ValueError, RecursionError):
            action = None
        if isinstance(action, dict):
            return action
        return {self.field: text} if self.field else {"text": text}

    def _ask(self, kind: str, data: dict[str, Any]) -> dict[str, Any]:
        message = {"type": kind} if kind == "state" else {"type": kind, "data": data}
        try:
            with suppress(self._error):  # it may have closed with a last word
                self._socket.send(json.dumps(message))
            answer = json.loads(self._socket.recv(timeout=SECONDS))
        except (OSError, EOFError, ValueError, self._error) as error:
            raise ServerError(f"the session is lost: {type(error).__name__}: {str(error)[:200]}") from None
        data = answer.get("data") or {}
        if answer.get("type") != "error":
            return dict(data)
        code, told = data.get("code"), str(data.get("message"))[:300]
        if code in FULL:
            raise Busy(told)
        raise Refused(told) if code in REFUSED and kind == "step" else ServerError(f"{code}: {told}")

    def _turn(self, data: dict[str, Any]) -> Turn:
        seen = data.get("observation")
        if isinstance(seen, dict):
            seen = {k: v for k, v in seen.items() if k != "metadata"}
        text = seen if isinstance(seen, str) else json.dumps(seen, sort_keys=True)
        reward = data.get("reward")
        paid = float(reward) if isinstance(reward, (int, float)) else 0.0 if reward is None else math.nan
        return Turn(text, paid, bool(data.get("done")))

    def close(self) -> None:
        self._open.close()


class Refused(Exception):
    """An action does not fit the server's schema."""


def _schema(base: str) -> dict[str, Any]:
    """The schema of an action; empty where the server tells none."""
    try:
        with urllib.request.urlopen(f"{base}/schema", timeout=SECONDS) as answer:
            found = json.load(answer)
    except (OSError, ValueError) as error:
        if getattr(error, "code", None) is None:
            raise EnvNotFound(f"{base} does not answer ({error}); is the server running?") from None
        return {}
    action = found.get("action") if isinstance(found, dict) else None
    return dict(action) if isinstance(action, dict) else {}


def text_field(schema: dict[str, Any]) -> str | None:
    """The field of an action that takes text: the only required one, or the only one; a call of a tool has none."""
    if "tool_name" in schema.get("properties", {}):
        return None
    parts = {k: v for k, v in schema.get("properties", {}).items() if k != "metadata" and v.get("type") == "string"}
    required = [k for k in parts if k in schema.get("required", ()) and "const" not in parts[k]]
    return required[0] if len(required) == 1 else next(iter(parts)) if len(parts) == 1 else None
