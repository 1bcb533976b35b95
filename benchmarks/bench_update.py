"""Throughput, peak memory and model FLOPs utilization (MFU) of the `torch_grpo` update for a random Qwen model.

    python benchmarks/bench_update.py --device cuda --peak-tflops 989     # an H100 in bfloat16, without sparsity
    python benchmarks/bench_update.py --size 4b --device cuda
    python benchmarks/bench_update.py --size tiny --device cpu

The model has random weights, and the trajectories have random tokens, so only the speed is meaningful. Each group has a
common prompt, and each trajectory alternates turns of the model with results of the environment.

An update is one optimizer step on all trajectories. Model FLOPs include the forward pass and the backward pass with
respect to activations, but not with respect to the weights of the base model, which are frozen. Each token counts 4
operations for each weight of the layers. Each sampled token counts 4 operations for each weight of the output layer.
Each pair of tokens that attend to each other counts 12 operations for each element of the queries in each layer. Common
prefixes count once in each batch. Padding, recomputed activations and the adapter do not count. MFU is the ratio of
these FLOPs per second to the peak of the device, which must be given, because PyTorch does not report it.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import sys
import time
from collections.abc import Sequence
from random import Random
from statistics import median
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from trace_gym.trainers.base import checkpoints_gradients
from trace_gym.trainers.batch import TrainingBatch, TrainingSample, batches
from trace_gym.trainers.config import GRPOConfig
from trace_gym.trainers.update import update

SIZES: dict[str, dict[str, int]] = {
    "tiny": {"hidden": 64, "feed_forward": 128, "layers": 2, "heads": 4, "kv": 2, "vocabulary": 512},
    "0.5b": {"hidden": 896, "feed_forward": 4864, "layers": 24, "heads": 14, "kv": 2, "vocabulary": 151_936},
    "1.5b": {"hidden": 1536, "feed_forward": 8960, "layers": 28, "heads": 12, "kv": 2, "vocabulary": 151_936},
    "4b": {
        "hidden": 2560, "feed_forward": 9728, "layers": 36, "heads": 32, "kv": 8, "vocabulary": 151_936,
        "head_dim": 128,
    },
}  # fmt: skip
"""Shapes of the random models, from the ``config.json`` of the models. Those with a ``head_dim`` are Qwen3 models, the
others are Qwen2 models.

- ``0.5b``: https://huggingface.co/Qwen/Qwen2.5-0.5B/blob/main/config.json
- ``1.5b``: https://huggingface.co/Qwen/Qwen2.5-1.5B/blob/main/config.json
- ``4b``: https://huggingface.co/Qwen/Qwen3-4B/blob/main/config.json
"""


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=list(SIZES), default="0.5b")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default=None, help="bfloat16 except on the CPU")
    parser.add_argument(
        "--peak-tflops", type=float, help="peak of the device in this data type; MFU is null without it"
    )
    parser.add_argument("--groups", type=int, default=8)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--prompt", type=int, default=3000, help="tokens of the prompt of a group")
    parser.add_argument("--turns", type=int, default=6, help="turns of a trajectory")
    parser.add_argument("--turn-tokens", type=int, default=80, help="sampled tokens of a turn")
    parser.add_argument("--result-tokens", type=int, default=120, help="tokens of a result between two turns")
    parser.add_argument("--micro-batch-tokens", type=int, default=16_384)
    parser.add_argument("--no-prefix-sharing", action="store_true")
    parser.add_argument("--repeat", type=int, default=3, help="updates; the first one is not counted")
    options = parser.parse_args(arguments)
    print(json.dumps(measure(options), indent=1))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run updates and return the measurements, together with the options and versions that they depend on."""
    torch.manual_seed(0)
    device = torch.device(options.device)
    dtype = options.dtype or ("float32" if device.type == "cpu" else "bfloat16")
    config = GRPOConfig(
        groups=options.groups,
        samples=options.samples,
        minibatches=1,
        micro_batch_tokens=options.micro_batch_tokens,
        prefix_sharing=not options.no_prefix_sharing,
    )
    model = random_model(SIZES[options.size], config, device, getattr(torch, dtype))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5)
    samples = trajectories(options, model.config.vocab_size)
    counted = [count(batch) for batch in batches(samples, config, model)]
    tokens, pairs = (sum(column) for column in zip(*counted, strict=True))
    sampled = sum(sum(s.mask) for s in samples)
    seconds = [timed_update(model, optimizer, samples, config, device) for _ in range(options.repeat + 1)][1:]
    flops = model_flops(model.config, tokens, pairs, sampled)
    rate = flops / median(seconds)
    return {
        "measured_on": device_name(device),
        "note": "random weights and tokens; only the speed is meaningful",
        "size": options.size,
        "parameters": sum(p.numel() for p in model.get_base_model().parameters() if not p.requires_grad),
        "dtype": dtype,
        "gradient_checkpointing": checkpoints_gradients(config, model),
        "prefix_sharing": config.prefix_sharing,
        "trajectories": len(samples),
        "tokens_of_trajectories": sum(len(s.ids) for s in samples),
        "tokens_computed": tokens,
        "tokens_sampled": sampled,
        "seconds_per_update": [round(s, 4) for s in seconds],
        "tokens_of_trajectories_per_second": round(sum(len(s.ids) for s in samples) / median(seconds), 1),
        "sampled_tokens_per_second": round(sampled / median(seconds), 1),
        "peak_memory_gib": round(peak_gib(device), 3),
        "peak_memory_of": "device" if device.type == "cuda" else "process, including Python and the libraries",
        "model_tflops_per_second": rate / 1e12,
        "peak_tflops": options.peak_tflops,
        "mfu": rate / 1e12 / options.peak_tflops if options.peak_tflops else None,
    }


def base_model(size: dict[str, int]) -> Any:
    """Return a random model of this size without an adapter, on the default device."""
    kind, own = (Qwen3Config, {"head_dim": size["head_dim"]}) if "head_dim" in size else (Qwen2Config, {})
    make: Any = Qwen3ForCausalLM if "head_dim" in size else Qwen2ForCausalLM
    shape = kind(
        hidden_size=size["hidden"],
        intermediate_size=size["feed_forward"],
        num_hidden_layers=size["layers"],
        num_attention_heads=size["heads"],
        num_key_value_heads=size["kv"],
        vocab_size=size["vocabulary"],
        max_position_embeddings=32_768,
        tie_word_embeddings=True,
        attn_implementation="sdpa",
        **own,
    )
    return make(shape)


def random_model(size: dict[str, int], config: GRPOConfig, device: torch.device, dtype: torch.dtype) -> Any:
    """Return a random model with a LoRA adapter, prepared in the same way as by the trainer."""
    base = base_model(size)
    targets = config.lora_targets if isinstance(config.lora_targets, str) else list(config.lora_targets)
    lora = LoraConfig(r=config.lora_rank, lora_alpha=config.lora_alpha, target_modules=targets, task_type="CAUSAL_LM")
    model: Any = get_peft_model(base.to(dtype), lora)
    if checkpointed := checkpoints_gradients(config, base):
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable()
    return model.to(device).train(checkpointed)


def trajectories(options: argparse.Namespace, vocabulary: int) -> list[TrainingSample]:
    """Return trajectories with random tokens. The advantages in a group alternate between 1 and -1."""
    random, made = Random(0), []
    for _ in range(options.groups):
        prompt = [random.randrange(vocabulary) for _ in range(options.prompt)]
        for member in range(options.samples):
            ids, mask = list(prompt), [False] * len(prompt)
            for turn in range(options.turns):
                result = options.result_tokens if turn else 0
                ids += [random.randrange(vocabulary) for _ in range(result + options.turn_tokens)]
                mask += [False] * result + [True] * options.turn_tokens
            logp = [-float(torch.tensor(float(vocabulary)).log())] * len(ids)
            made.append(TrainingSample(ids, mask, logp, 1.0 if member % 2 else -1.0))
    return made


def timed_update(
    model: Any,
    optimizer: torch.optim.Optimizer,
    samples: Sequence[TrainingSample],
    config: GRPOConfig,
    device: torch.device,
) -> float:
    synchronize(device)
    began = time.perf_counter()
    update(model, optimizer, samples, config, Random(0))
    synchronize(device)
    return time.perf_counter() - began


def count(batch: TrainingBatch) -> tuple[int, int]:
    """Return the number of tokens without padding, and of pairs of tokens that attend to each other."""
    if batch.attention.dim() == 2:
        lengths = batch.attention.sum(1)
        return int(lengths.sum()), int((lengths * (lengths + 1) // 2).sum())
    allowed = batch.attention[:, 0] == 0
    return int(allowed.diagonal(dim1=1, dim2=2).sum()), int(allowed.sum())


def model_flops(config: Any, tokens: int, pairs: int, sampled: int) -> float:
    """Return the FLOPs of an update, as defined in the docstring of this module."""
    hidden, layers = config.hidden_size, config.num_hidden_layers
    head = getattr(config, "head_dim", None) or hidden // config.num_attention_heads
    queries, keys = head * config.num_attention_heads, head * config.num_key_value_heads
    weights = layers * (2 * hidden * queries + 2 * hidden * keys + 3 * hidden * config.intermediate_size)
    return 4.0 * weights * tokens + 4.0 * hidden * config.vocab_size * sampled + 12.0 * queries * layers * pairs


def synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_gib(device: torch.device) -> float:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**30
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def device_name(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"CPU ({platform.processor() or platform.machine()}, {torch.get_num_threads()} threads)"


if __name__ == "__main__":
    main()
