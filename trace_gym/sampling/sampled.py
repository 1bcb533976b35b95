"""Token ids and log-probabilities in the completions of a vLLM server, with checks of their consistency."""

from __future__ import annotations

import json
from math import isfinite

LOWEST = -1e3
"""Log-probabilities below this value are errors. vLLM sends -9999 instead of minus infinity."""

SampledTokens = tuple[list[int], list[float]]
"""Token ids that the model sampled, and their log-probabilities."""


class BadAnswer(Exception):
    """A successful HTTP response without the token ids and log-probabilities that were requested."""


def read_sampled(text: str, prompt: list[int], limit: int, end: int) -> SampledTokens:
    """Return the token ids and their log-probabilities in the body of a completion.

    Raises:
        BadAnswer: The body is not a completion, or its tokens and log-probabilities are not consistent.
    """
    try:
        choice = json.loads(text)["choices"][0]
        ids, logprobs = choice["token_ids"], choice["logprobs"]["token_logprobs"]
        same_prompt = choice.get("prompt_token_ids") in (None, prompt)
        complete = len(ids) == len(logprobs)
        valid = all(type(i) is int and i >= 0 for i in ids) and all(type(p) in (int, float) for p in logprobs)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise BadAnswer(
            f"found {shown(text)!r}, expected a completion with token_ids and logprobs. The server must be vLLM"
        ) from None
    if not same_prompt:
        raise BadAnswer("the server changed the prompt: found other prompt_token_ids, expected those of the request")
    if not complete:
        raise BadAnswer(f"found {len(ids)} tokens and {len(logprobs)} log-probabilities, expected equal numbers")
    if not valid or not all(isfinite(p) and LOWEST < p <= 1e-3 for p in logprobs):
        raise BadAnswer("found a token or log-probability that is not valid, expected token ids and finite numbers")
    if not 0 < len(ids) <= limit or end in ids[:-1] or (ids[-1] != end and len(ids) < limit):
        raise BadAnswer(f"found {len(ids)} tokens, expected {limit} tokens, or fewer tokens that end with token {end}")
    return ids, [min(float(p), 0.0) for p in logprobs]


def shown(text: str) -> str:
    """Return the first characters of a response for an error message."""
    return " ".join(text[:300].split())
