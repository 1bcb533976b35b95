"""Log of the requests of an agent to an endpoint, in the format of the ledgers of `trace_gym.llm`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trace_gym.llm.budget import Price
from trace_gym.llm.ledger import Ledger, LedgerEntry
from trace_gym.llm.request import cleaned, token_count, well_formed
from trace_gym.types import sha256


@dataclass(frozen=True)
class RequestLog:
    """Log of the requests of an agent to an endpoint. Each attempt at a request is one line of the ledger.

    Args:
        ledger: The ledger. Without a ledger, nothing is logged.
        stage: Name of the stage or command, with which the purpose of each request begins.
        price: Price of tokens. Without a price, the cost is unknown.
        secret: The API key, which is removed from error messages.
    """

    ledger: Ledger | None = None
    stage: str = "rollout"
    price: Price | None = None
    secret: str = ""

    def write(
        self,
        request: Mapping[str, Any],
        turn: str,
        *,
        attempt: int,
        started: float,
        completion: Any = None,
        error: str = "",
    ) -> None:
        """Append a line for one attempt.

        Args:
            request: Fields of the request.
            turn: Scenario and number of the turn.
            attempt: Number of the attempt, starting with 1.
            started: Time of `time.monotonic` at which the attempt started.
            completion: The completion in the response, or None if the attempt failed.
            error: The error, if the attempt failed.
        """
        if self.ledger is None:
            return
        usage = getattr(completion, "usage", None)
        prompt, written = (token_count(getattr(usage, name, None)) for name in ("prompt_tokens", "completion_tokens"))
        served = getattr(completion, "model", None)
        self.ledger.write(
            LedgerEntry(
                purpose=f"{self.stage} {turn}",
                key=sha256(json.dumps(request, sort_keys=True, default=str)),
                model=f"openai:{request['model']}",
                served=well_formed(served) if isinstance(served, str) else "",
                outcome="failed" if completion is None else "answered",
                attempt=attempt,
                prompt_tokens=prompt,
                completion_tokens=written,
                cost=self.price.of(prompt, written) if self.price and prompt + written else None,
                seconds=round(time.monotonic() - started, 3),
                error=cleaned(error, self.secret),
            )
        )
