"""A tiny Qwen3 and a byte-level tokenizer with a chat template: an ordinary Hugging Face folder in a second."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed

from trace_gym import registry
from trace_gym.chat_formats import FORMATS
from trace_gym.episode import Episode
from trace_gym.policies import Policy
from trace_gym.policies.hf import HFPolicy
from trace_gym.trajectories import TokenRollout
from trace_gym.types import Call, Say, Scenario

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TAGS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

TEMPLATE = """\
{% if tools %}<|im_start|>system
{{ messages[0].content }}

# Tools
<tools>{% for tool in tools %}{{ '\\n' }}{{ tool | tojson }}{% endfor %}{{ '\\n' }}</tools><|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{% for message in messages %}
{% if message.role == 'user' %}<|im_start|>user
{{ message.content }}<|im_end|>
{% elif message.role == 'assistant' %}<|im_start|>assistant
{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}<tool_call>{{ '\\n' }}{"name": "{{ call.function.name }}", "arguments": \
{% if call.function.arguments is string %}{{ call.function.arguments }}{% else %}{{ call.function.arguments | tojson }}\
{% endif %}}{{ '\\n' }}</tool_call>{% endfor %}<|im_end|>
{% elif message.role == 'tool' %}
{% if loop.previtem is undefined or loop.previtem.role != 'tool' %}<|im_start|>user{{ '\\n' }}{% endif %}
<tool_response>
{{ message.content }}
</tool_response>{% if loop.nextitem is undefined or loop.nextitem.role != 'tool' %}<|im_end|>{% endif %}{{ '\\n' }}
{%- endif %}
{% endfor %}
{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""Hermes as Qwen2.5 speaks it: tools in the system message, results inside a user message."""

CORPUS = [
    '<tool_call>\n{"name": "look", "arguments": {"box": "b1"}}\n</tool_call>',
    '{"type": "function", "function": {"name": "open_box", "description": "Open a box.", "parameters": ',
    '{"type": "object", "properties": {"box": {"type": "string", "description": "The number."}}, "required": ["box"]}}',
    "In each turn either write to the user or make one tool call, never both. I opened the box. Please open my box.",
    "system user assistant # Tools <tools> </tools> Error: there is no such box",
] * 3


def tiny_tokenizer(
    vocabulary: int = 400, *, corpus: Sequence[str] = CORPUS, across_words: bool = False
) -> PreTrainedTokenizerFast:
    """A byte-level BPE of at most `vocabulary` entries; ``<|im_end|>`` ends a turn.

    With `across_words` an entry may span white space, so that a whole tool scaffold becomes one token.
    """
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not across_words)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary - len(TAGS),
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(corpus, trainer)
    wrap: Any = PreTrainedTokenizerFast
    tokenizer: PreTrainedTokenizerFast = wrap(tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.add_tokens(TAGS)
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def tiny_model(
    vocabulary: int, *, seed: int = 0, layers: int = 2, hidden: int = 32, heads: int = 4, kv_heads: int = 2
) -> Any:
    """A random Qwen3 with weights large enough that its distribution is far from uniform."""
    set_seed(seed)
    config = Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=3 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=hidden // heads,
        max_position_embeddings=4096,
        initializer_range=0.2,
        pad_token_id=0,
        eos_token_id=2,
    )
    model: Any = Qwen3ForCausalLM
    return model(config).eval()


def save_tiny(folder: Path, *, seed: int = 0) -> Path:
    """Save both as an ordinary Hugging Face folder and return it."""
    tokenizer = tiny_tokenizer()
    tokenizer.save_pretrained(folder)
    tiny_model(len(tokenizer), seed=seed).save_pretrained(folder)
    return folder


def save_stand_in(folder: Path, env: str = "tau2_airline_desk", *, vocabulary: int = 470, turn_tokens: int = 8) -> Path:
    """Save a random Qwen3 whose prompt contains the policy and all tools of an environment, and return the folder.

    Args:
        folder: Folder of the model and its tokenizer.
        env: Environment with the text on which the tokenizer is trained.
        vocabulary: Maximum number of entries of the tokenizer. A smaller vocabulary makes the prompt longer. With the
            defaults, the prompt has about as many tokens as with the tokenizer of a real model.
        turn_tokens: Average number of tokens of a sampled turn.
    """
    opening = registry.start_episode(Scenario(env=env, level=0, seed=1))
    corpus = [str(m["content"]) for m in opening.messages] + [json.dumps(tool) for tool in opening.tools]
    tokenizer = tiny_tokenizer(vocabulary, corpus=corpus)
    tokenizer.save_pretrained(folder)
    set_seed(0)
    hidden, end = 32, int(tokenizer.convert_tokens_to_ids("<|im_end|>"))
    config = Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=hidden, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, head_dim=8, max_position_embeddings=32_768,
        tie_word_embeddings=False, pad_token_id=0, eos_token_id=end,
    )  # fmt: skip
    make: Any = Qwen3ForCausalLM
    model = make(config)
    with torch.no_grad():  # one component of all hidden states is almost constant, and only the end of a turn reads it
        model.model.embed_tokens.weight[:, 0] = 0.2
        model.lm_head.weight[:, 0] = 0
        odds = (len(tokenizer) - 1) / (turn_tokens - 1)
        model.lm_head.weight[end, 0] = math.log(odds) / math.sqrt(hidden * 0.2**2 / (0.2**2 + (hidden - 1) * 0.02**2))
    model.save_pretrained(folder)
    return folder


class Puppet(HFPolicy):
    """Speaks a scripted policy's turns through a model: its tokens are given, its log-probabilities are the model's."""

    def __init__(self, script: Policy, model: Any, tokenizer: Any, **kw: Any) -> None:
        super().__init__(model, tokenizer, **kw)
        self.script = script
        self._turns: dict[int, tuple[TokenRollout, int, list[int]]] = {}

    def choose(
        self,
        logp: torch.Tensor,
        rollouts: Sequence[TokenRollout],
        *,
        greedy: bool,
        generator: torch.Generator | None,
    ) -> torch.Tensor:
        super().choose(logp, rollouts, greedy=greedy, generator=generator)
        return torch.tensor([self._next(rollout) for rollout in rollouts])

    def _next(self, rollout: TokenRollout) -> int:
        _, turn, left = self._turns.get(id(rollout), (rollout, -1, []))
        if turn != rollout.episode.turns:
            left = [*self.chat.tokenizer(self.message(rollout.episode))["input_ids"], self.chat.eos][::-1]
            self._turns[id(rollout)] = rollout, rollout.episode.turns, left
        return left.pop()

    def message(self, episode: Episode) -> str:
        """The text of the script's next turn."""
        match self.script.act(episode):
            case Call() as call:
                return FORMATS["hermes"].render(call)
            case Say(text) | str(text):
                return text
            case other:
                raise TypeError(f"a puppet speaks text and calls, found {other!r}")
