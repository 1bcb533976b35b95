"""Adapter for OpenEnv servers with WebSocket sessions.

The protocol consists of two JSON messages, ``reset`` and ``step``. The adapter therefore requires only a small
WebSocket package instead of the openenv distribution with its user interface and MCP dependencies.
"""

from __future__ import annotations

import json
import math
import urllib.request
from contextlib import ExitStack, suppress
from typing import Any, ClassVar

from trace_gym.errors import ConfigError, EnvNotFound
from trace_gym.validation.third_party.black_box import BlackBox, Busy, TurnResponse
from trace_gym.validation.third_party.uri import EnvironmentURI, import_required

TIMEOUT_SECONDS = 30.0
"""Timeout for a response of the server."""
REJECTED_CODES = {"VALIDATION_ERROR", "INVALID_JSON", "UNKNOWN_TYPE"}
"""Error codes with which a server rejects an action that does not match its schema. Other codes are server failures."""
BUSY_CODES = {"CAPACITY_REACHED", "SESSION_ERROR", "FACTORY_ERROR"}


class ServerError(RuntimeError):
    """A failure of the server or of the connection."""


class OpenEnvBox(BlackBox):
    """Environment on a running OpenEnv server, with a URI such as ``openenv:http://localhost:8000``.

    A turn that is a JSON object is sent as the action. Other text is sent in the text field of the action, which is
    detected from the server's schema or set with ``?field=message``. ``?limit=`` sets the turn limit. A missing reward
    counts as 0, and the observation's ``metadata`` is not shown to the agent.
    """

    missing_reference = "an OpenEnv server cannot provide a reference solution"
    kind: ClassVar[str] = "an OpenEnv server"
    served: ClassVar[bool] = True

    def __init__(self, address: EnvironmentURI) -> None:
        connect = import_required("websockets.sync.client", "openenv", address).connect
        self._error: type[Exception] = import_required("websockets.exceptions", "openenv", address).WebSocketException
        options = dict(address.options)
        field = options.pop("field", None)
        if options:
            raise ConfigError(
                f"{address.text} has an unknown option: found {min(options)!r}, expected field, low, high or limit"
            )
        if not address.name.startswith(("http://", "https://")):
            raise ConfigError(f"{address.text} is not a valid server URI: expected openenv:http://HOST:PORT")
        base = address.name.rstrip("/")
        self.schema = _schema(base)
        self.field = str(field or text_field(self.schema) or "")
        url = f"ws{base.removeprefix('http')}/ws"
        self._open = ExitStack()
        try:
            session = connect(url, open_timeout=TIMEOUT_SECONDS, close_timeout=1, max_size=None, compression=None)
            self._socket: Any = self._open.enter_context(session)
        except (OSError, ValueError, self._error) as error:
            cause = f"{type(error).__name__}: {error}"
            raise EnvNotFound(f"{url} is not reachable ({cause}). Check that the server is running") from None
        try:
            self._ask("state", {})  # a busy server reports this at the first message
        except ServerError:  # servers that do not support this message are accepted
            return
        except Busy:
            self.close()
            raise

    def begin(self, seed: int) -> str:
        return self._turn(self._ask("reset", {"seed": seed})).observation

    def act(self, text: str) -> TurnResponse:
        try:
            return self._turn(self._ask("step", self._action(text)))
        except ActionRejected as refusal:
            return TurnResponse(f"Error: {refusal}", 0.0, False)

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
            with suppress(self._error):  # if the server closed the connection, it may have sent a final message
                self._socket.send(json.dumps(message))
            answer = json.loads(self._socket.recv(timeout=TIMEOUT_SECONDS))
        except (OSError, EOFError, ValueError, self._error) as error:
            raise ServerError(
                f"the connection to the environment server was lost ({type(error).__name__}: {str(error)[:200]})"
            ) from None
        data = answer.get("data") or {}
        if answer.get("type") != "error":
            return dict(data)
        code, message_text = data.get("code"), str(data.get("message"))[:300]
        if code in BUSY_CODES:
            raise Busy(message_text)
        raise (
            ActionRejected(message_text)
            if code in REJECTED_CODES and kind == "step"
            else ServerError(f"{code}: {message_text}")
        )

    def _turn(self, data: dict[str, Any]) -> TurnResponse:
        seen = data.get("observation")
        if isinstance(seen, dict):
            seen = {k: v for k, v in seen.items() if k != "metadata"}
        text = seen if isinstance(seen, str) else json.dumps(seen, sort_keys=True)
        reward = data.get("reward")
        paid = float(reward) if isinstance(reward, (int, float)) else 0.0 if reward is None else math.nan
        return TurnResponse(text, paid, bool(data.get("done")))

    def close(self) -> None:
        self._open.close()


class ActionRejected(Exception):
    """Error for an action that does not match the server's schema."""


def _schema(base: str) -> dict[str, Any]:
    """Return the action schema of the server; an empty dict if the server provides none."""
    try:
        with urllib.request.urlopen(f"{base}/schema", timeout=TIMEOUT_SECONDS) as answer:
            found = json.load(answer)
    except (OSError, ValueError) as error:
        if getattr(error, "code", None) is None:
            raise EnvNotFound(f"{base} is not reachable ({error}). Check that the server is running") from None
        return {}
    action = found.get("action") if isinstance(found, dict) else None
    return dict(action) if isinstance(action, dict) else {}


def text_field(schema: dict[str, Any]) -> str | None:
    """Return the name of an action's text field, or None if no field can be identified.

    The text field is the only required string field or, if there is no such field, the only string field. Actions for
    tool calls have no text field.
    """
    if "tool_name" in schema.get("properties", {}):
        return None
    parts = {k: v for k, v in schema.get("properties", {}).items() if k != "metadata" and v.get("type") == "string"}
    required = [k for k in parts if k in schema.get("required", ()) and "const" not in parts[k]]
    return required[0] if len(required) == 1 else next(iter(parts)) if len(parts) == 1 else None
