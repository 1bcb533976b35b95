"""Difference between the log-probabilities of a rollout server and those of the trainer, and its correction.

A server uses different kernels, data types and batches than the trainer, so the same weights give slightly different
log-probabilities. Let mu be the log-probability of a sampled token that the server returns, and p the log-probability
that the trainer computes before the first optimizer step of an iteration. The ratio in equation 2 of `torch_grpo` is
exp(log pi - mu). It starts at exp(p - mu), and therefore already contains the importance weight of the difference. A
separate weight would count the difference twice. However, the ratio is not bounded for tokens with a negative
advantage, so one token that the server considers very improbable could dominate a step. Therefore, mu is replaced by

    max(mu, p - log C),  C = RATIO_CAP

so that the ratio starts at min(exp(p - mu), C) (truncated importance sampling). Rollouts with a hint are not changed,
because most of their difference is caused by the hint, which is not in the trainer's prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import torch
from peft import PeftModel

from trace_gym.trainers.batch import TrainingSample, batches
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.logps import token_logps
from trace_gym.trainers.sampling import Outcome

RATIO_CAP = 2.0
"""C, the maximum initial ratio of the trainer's probability of a token to the server's probability of it."""


def correct(model: PeftModel, rollouts: Sequence[Outcome], config: GRPOConfig) -> dict[str, float | None]:
    """Truncate the ratios of rollouts from a server, and return metrics of the difference.

    Args:
        model: Model with the adapter that the rollouts were sampled from.
        rollouts: Rollouts from a server. Their log-probabilities are changed.
        config: Settings of the run.

    Returns:
        ``logp_difference``: mean absolute difference of the log-probabilities of the sampled tokens, before the
        correction. ``ratios_truncated``: fraction of the tokens whose ratio was truncated. Both are None if there are
        no sampled tokens.
    """
    # `batches` sorts rows by length. The same stable sort is used here, so that rows and rollouts have the same order.
    rows = sorted((r for r in rollouts if not r.hint and any(r.mask)), key=lambda r: len(r.ids))
    if not rows:
        return {"logp_difference": None, "ratios_truncated": None}
    samples, done = [TrainingSample(r.ids, r.mask, r.logprobs, 0.0) for r in rows], 0
    difference, truncated, tokens = 0.0, 0, 0
    with torch.no_grad():
        for batch in batches(samples, config.model_copy(update={"prefix_sharing": False}), model):
            logp_BT, _ = token_logps(model, batch, config.temperature)
            for own_T, mask_T in zip(logp_BT.cpu(), batch.mask_BT.cpu(), strict=True):
                row, own = rows[done], own_T[mask_T].double()
                places = [n for n, sampled in enumerate(row.mask) if sampled]
                assert len(places) == len(own), "batches returned the rows in another order"
                server = torch.tensor([row.logprobs[n] for n in places], dtype=torch.float64)
                difference += float((own - server).abs().sum())
                truncated += int((own - server > log(RATIO_CAP)).sum())
                for n, value in zip(places, torch.maximum(server, own - log(RATIO_CAP)).tolist(), strict=True):
                    row.logprobs[n] = value
                tokens, done = tokens + len(places), done + 1
    return {"logp_difference": difference / tokens, "ratios_truncated": truncated / tokens}
