"""A server on this machine with the routes of vLLM that training uses. A tiny model samples its tokens."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from llm_server import Act, Body, Handler, Server, fails
from peft import PeftModel
from transformers import AutoModelForCausalLM

from trace_gym.sampling.truncation import Truncation

Change = Callable[[Body], None]
"""Function that changes the body of a completion before it is sent."""


class Vllm:
    """The state of a server. `acts` misbehave in the next completions; the others are answered by the model."""

    def __init__(self, folder: Path, *, length: int = 4096, scaled: bool = True) -> None:
        self.folder, self.length, self.scaled = folder, length, scaled
        self.adapters: dict[str, str] = {}
        self.log: list[str] = []
        """Adapters that were loaded (``+name``) and unloaded (``-name``)."""
        self.completions: list[tuple[Body, list[int], list[float]]] = []
        """Requests with the tokens and log-probabilities of their answers."""
        self.acts: list[Act] = []
        self.before: Callable[[Body], None] = lambda body: None
        self.refuses_adapters = False
        self._lock = threading.Lock()

    def restart(self) -> None:
        self.adapters.clear()

    def __call__(self, handler: Handler, body: Body) -> None:
        match handler.path.removeprefix("/v1/"):
            case "models":
                named = [{"id": "base", "max_model_len": self.length}, *({"id": name} for name in self.adapters)]
                handler.reply(json.dumps({"object": "list", "data": named}).encode())
            case "load_lora_adapter" if not self.refuses_adapters:
                assert body["lora_name"] not in self.adapters, "vLLM refuses a second adapter with the same name"
                self.log.append(f"+{body['lora_name']}")
                self.adapters[body["lora_name"]] = body["lora_path"]
                _loaded(self.folder, body["lora_name"], body["lora_path"])
                handler.reply(b"Success")
            case "unload_lora_adapter":
                self.log.append(f"-{body['lora_name']}")
                self.adapters.pop(body["lora_name"], None)
                handler.reply(b"Success")
            case "completions":
                self._complete(handler, body)
            case _:
                fails(404, "Not Found")(handler, body)

    def _complete(self, handler: Handler, body: Body) -> None:
        self.before(body)
        with self._lock:
            act = self.acts.pop(0) if self.acts else None
        if act:
            act(handler, body)
        elif (
            path := {"base": "", **self.adapters}.get(body["model"])
        ) is None:  # another thread may restart the server
            fails(404, "The model does not exist")(handler, body)
        else:
            handler.reply(json.dumps(self.completion(body, path)).encode())

    def completion(self, body: Body, path: str | None = None) -> Body:
        assert body["return_token_ids"] and body["ignore_eos"] if "stop_token_ids" in body else body["logprobs"] == 2
        end = body.get("stop_token_ids", [-1])[0]
        with self._lock:
            ids, logprobs, best = self._sample(
                body, end, self.adapters.get(body["model"], "") if path is None else path
            )
            self.completions.append((body, ids, logprobs))
        finish = "stop" if ids[-1] == end else "length"
        scores = {"token_logprobs": list(logprobs), "top_logprobs": best}
        choice = {"index": 0, "text": "?", "token_ids": list(ids), "prompt_token_ids": list(body["prompt"])}
        choice |= {"finish_reason": finish, "logprobs": scores}
        return {"id": "c", "object": "text_completion", "choices": [choice]}

    def _sample(self, body: Body, end: int, path: str) -> tuple[list[int], list[float], list[Body]]:
        ids, logprobs, best = list[int](), list[float](), list[Body]()
        model, generator = _loaded(self.folder, body["model"], path), torch.Generator().manual_seed(body["seed"])
        past, chunk = None, body["prompt"]
        while len(ids) < body["max_tokens"] and end not in ids:
            with torch.inference_mode():
                out = model(input_ids=torch.tensor([chunk]), past_key_values=past, use_cache=True)
            past, logits = out.past_key_values, out.logits[0, -1].float()
            scaled = (logits / (body["temperature"] or 1.0)).log_softmax(-1)
            scaled = Truncation(body["top_p"], max(body["top_k"], 0)).apply(scaled[None])[0]
            shown = scaled if self.scaled else logits.log_softmax(-1)
            token = int(torch.multinomial(scaled.exp(), 1, generator=generator)) if body["temperature"] else -1
            ids.append(token if token >= 0 else int(scaled.argmax()))
            chunk = ids[-1:]
            logprobs.append(float(shown[ids[-1]]))
            best.append({f"token_id:{i}": float(shown[i]) for i in scaled.topk(2).indices.tolist()})
        return ids, logprobs, best


@lru_cache(64)
def _loaded(folder: Path, name: str, path: str) -> Any:
    made: Any = AutoModelForCausalLM.from_pretrained(folder, dtype="float32", attn_implementation="sdpa")
    return (PeftModel.from_pretrained(made, path) if path else made).eval()


def changed(vllm: Vllm, change: Change) -> Act:
    """A completion of the model in which something was changed."""

    def act(handler: Handler, body: Body) -> None:
        answer = vllm.completion(body)
        change(answer["choices"][0])
        handler.reply(json.dumps(answer).encode())

    return act


def serve(vllm: Vllm) -> Server:
    return Server(vllm)
