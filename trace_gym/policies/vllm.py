"""Batch policy that samples token ids from vLLM servers. No text is tokenized twice.

The policy sends the token ids of a conversation to ``/v1/completions``, and receives the sampled token ids and their
log-probabilities. Prompts and answers are converted to tokens by the same code as in `HFPolicy`, and the same limits
apply, so the rollouts have the same format and can be used for training. Each conversation runs in a separate thread,
so that a slow conversation does not delay others. All turns of a conversation go to the same server, because the cache
of that server contains the earlier tokens.

Requests override the sampling parameters in ``generation_config.json``, which vLLM uses by default, because rollouts
must come from the whole distribution of the model, or from the tokens that the settings of the model select. At
temperatures other than 0 and 1, or with such a selection, the server must be started with ``--logprobs-mode
processed_logprobs``; otherwise its log-probabilities are those of the whole distribution at temperature 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from trace_gym.episode import Episode
from trace_gym.errors import ConfigError, Unavailable
from trace_gym.policies.chat import Chat
from trace_gym.policies.conversation import SampledConversation, new_rollout, prompt, take_turn
from trace_gym.sampling.truncation import ALL_TOKENS, Truncation
from trace_gym.sampling.vllm import VLLMServer
from trace_gym.threads import VLLM_CONCURRENCY
from trace_gym.trajectories import TokenRollout
from trace_gym.types import sha256

if TYPE_CHECKING:
    import torch

OTHER_TEMPERATURE = 2.0
"""Temperature of the request that shows whether the log-probabilities depend on the temperature, if it is 1."""


@dataclass(frozen=True, slots=True)
class _Job:
    """A conversation with its server and its seed."""

    conversation: SampledConversation
    hinted: list[int]
    """Tokens of the initial observation with the hint; the initial tokens of the rollout if there is no hint."""
    server: VLLMServer
    seed: int


class VLLMPolicy:
    """A `BatchPolicy` that samples token ids from vLLM servers.

    Args:
        servers: Servers with the same model. Neighboring episodes, such as those of a GRPO group, use the same server.
        tokenizer: The model's tokenizer, with a chat template and an ``eos_token`` that ends a turn.
        vocabulary: Number of tokens in the vocabulary of the model.
        max_turn_tokens: Maximum number of tokens of a turn. Longer turns are truncated before they are passed to the
            episode.
        max_tokens: Maximum number of tokens of a conversation.
        template: Additional arguments of the chat template, such as ``enable_thinking``.
        style: Chat format in which the model writes tool calls; see `Chat`.
        truncation: The tokens from which the model is sampled. It has no effect at temperature 0.
        concurrency: Maximum number of conversations at the same time, over all servers.
        name: Name of the policy, stored in `Trajectory.model`.

    Raises:
        ConfigError: The tokenizer is not supported, a server does not serve the model, or its context is too short.
        Unavailable: A server did not answer.
    """

    def __init__(
        self,
        servers: Sequence[VLLMServer],
        tokenizer: Any,
        *,
        vocabulary: int,
        max_turn_tokens: int = 64,
        max_tokens: int = 1024,
        template: Mapping[str, Any] | None = None,
        style: str = "auto",
        truncation: Truncation = ALL_TOKENS,
        concurrency: int = VLLM_CONCURRENCY,
        name: str = "vllm",
    ) -> None:
        self.servers = list(servers)
        self.chat = Chat(tokenizer, template, style)
        self.vocabulary = vocabulary
        self.truncation, self.concurrency = truncation, concurrency
        self.max_turn_tokens, self.max_tokens = max_turn_tokens, max_tokens
        self.name = name
        self._tokenizing = Lock()
        for server in self.servers:
            if (length := server.context_length()) is not None and length < max_tokens:
                raise ConfigError(
                    f"the context length of {server.url} is too short: found {length}, expected at least {max_tokens} "
                    f"(max_tokens). Start the server with --max-model-len {max_tokens}, or decrease max_tokens"
                )

    def use(self, adapter: Path, name: str | None = None) -> None:
        """Load an adapter into all servers, use it for later rollouts, and then unload the adapter that it replaces.

        The arguments and errors are those of `VLLMServer.use`.
        """
        for server in self.servers:
            server.use(adapter, name)
        for server in self.servers:
            server.unload_old()

    def rollout(
        self,
        episodes: Sequence[Episode],
        *,
        temperature: float = 1.0,
        generator: torch.Generator | None = None,
        progress: Callable[[int], None] | None = None,
        hints: Sequence[str] = (),
    ) -> list[TokenRollout]:
        """Run new episodes to their end and return the rollouts in the same order.

        The arguments and the meaning of the rollouts are those of `HFPolicy.rollout`. The seed of each request is
        derived from the generator. vLLM does not guarantee the same tokens for the same seed, because its numerical
        results depend on the requests that it processes at the same time.

        Raises:
            Unavailable: A server failed, even after retries. No rollout is returned, because a missing rollout must not
                be scored.
            ConfigError: An episode was already started, an initial observation does not fit, the temperature is
                negative, or the log-probabilities of a server are not those of the distribution that is sampled.
        """
        if not temperature >= 0:
            raise ConfigError(f"invalid temperature: found {temperature}, expected 0 or more")
        jobs = self._jobs(episodes, generator, hints or [""] * len(episodes))
        self._check_logprobs(jobs, temperature)
        stop = Event()
        pool = ThreadPoolExecutor(min(self.concurrency, len(jobs)) or 1)
        try:
            for finished in as_completed([pool.submit(self._run, job, temperature, stop) for job in jobs]):
                finished.result()
                if progress:
                    progress(1)
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
        return [job.conversation.out for job in jobs]

    def _jobs(self, episodes: Sequence[Episode], generator: torch.Generator | None, hints: Sequence[str]) -> list[_Job]:
        import torch

        device = generator.device if generator else None
        seeds = torch.randint(2**62, (len(episodes),), generator=generator, device=device).tolist()
        jobs = []
        for n, (episode, hint, seed) in enumerate(zip(episodes, hints, seeds, strict=True)):
            conversation = SampledConversation(new_rollout(self, episode, hint))
            hinted = prompt(self, episode, hint)
            conversation.append(prompt(self, episode) if hint else hinted)
            conversation.hidden = len(hinted) - len(conversation.out.ids)
            jobs.append(_Job(conversation, hinted, self.servers[n * len(self.servers) // len(episodes)], seed))
        return jobs

    def _check_logprobs(self, jobs: Sequence[_Job], temperature: float) -> None:
        """Check that the log-probabilities of all servers are those of the distribution that is sampled.

        A server that scales its log-probabilities by the temperature also truncates the distribution first.

        Raises:
            ConfigError: The log-probabilities of a server do not depend on the temperature.
        """
        if not jobs or temperature == 0 or (temperature == 1 and not self.truncation):
            return
        sampled = f"the sampling temperature {temperature}{f' with {self.truncation}' if self.truncation else ''}"
        for server in self.servers:
            if not server.scales_logprobs(jobs[0].hinted, OTHER_TEMPERATURE if temperature == 1 else temperature):
                raise ConfigError(
                    f"the server {server.url} returns log-probabilities at temperature 1, expected log-probabilities "
                    f"at {sampled}. Start the server with --logprobs-mode processed_logprobs"
                )

    def _run(self, job: _Job, temperature: float, stop: Event) -> None:
        """Run a conversation to the end of its episode, unless another conversation has failed."""
        conversation, out = job.conversation, job.conversation.out
        start = len(out.ids)
        while not (out.episode.done or stop.is_set()):
            ids, logprobs = job.server.sample(
                job.hinted + out.ids[start:],
                limit=conversation.room(self),
                temperature=temperature,
                seed=int(sha256(f"{job.seed}/{out.episode.turns}")[:8], 16),
                end=self.chat.eos,
                stop=stop,
                among=self.truncation if temperature else ALL_TOKENS,
            )
            if max(ids) >= self.vocabulary:
                raise Unavailable(
                    f"{job.server.url} sampled a token that the model does not have: found {max(ids)}, expected less "
                    f"than {self.vocabulary}. Serve the model in name"
                )
            conversation.sampled(ids, logprobs)
            answers = None
            if conversation.turn_fits(self):
                with self._tokenizing:
                    [text] = self.chat.texts([out.ids[conversation.turn :]])
                answers = take_turn(out.episode, text)
            with self._tokenizing:  # tokenizers must not be used by several threads at once
                conversation.answered(self, answers)
