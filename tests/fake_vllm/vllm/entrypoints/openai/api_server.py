"""Stand-in for the server of vLLM, which samples tokens uniformly and misbehaves as the variable FAKE_VLLM says.

The tokens of a request depend only on its seed, so runs with and without a restart of the server are the same.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Lock
from typing import Any

MODE = json.loads(os.environ.get("FAKE_VLLM", "{}"))
"""Keys: ``folder`` for the records of starts, ``exit`` (lines to print before it ends with status 3), ``hang``,
``die_at`` (numbers of the completions, counted over all starts, at which the server is killed), and ``dies`` (it is
killed after the first answer to a GET request)."""
FOLDER = Path(MODE["folder"])
ADAPTERS: set[str] = set()
LOCK = Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    options: Any

    def do_GET(self) -> None:
        models: list[dict[str, Any]] = [{"id": "base", "max_model_len": self.options.max_model_len}]
        self.reply({} if self.path == "/health" else {"data": models + [{"id": name} for name in sorted(ADAPTERS)]})
        if "dies" in MODE:
            os.kill(os.getpid(), signal.SIGKILL)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/v1/load_lora_adapter":
            assert Path(body["lora_path"], "adapter_model.safetensors").exists()
            ADAPTERS.add(body["lora_name"])
            self.reply({})
        elif self.path == "/v1/unload_lora_adapter":
            ADAPTERS.discard(body["lora_name"])
            self.reply({})
        elif body["model"] in {"base", *ADAPTERS}:
            self.complete(body)
        else:
            self.reply({"error": {"message": "The model does not exist"}}, 404)

    def complete(self, body: dict[str, Any]) -> None:
        with LOCK, (FOLDER / "completions").open("a+") as file:
            file.write(f"{body['model']}\n")
            file.seek(0)
            number = len(file.readlines())
        if number in MODE.get("die_at", []):
            os.kill(os.getpid(), signal.SIGKILL)
        random, size, end = Random(body["seed"]), self.options.vocabulary, body["stop_token_ids"][0]
        ids: list[int] = []
        while len(ids) < body["max_tokens"] and end not in ids:
            ids.append(random.randrange(size))
        choice = {"index": 0, "text": "?", "token_ids": ids, "prompt_token_ids": body["prompt"]}
        choice |= {"finish_reason": "stop" if ids[-1] == end else "length"}
        choice |= {"logprobs": {"token_logprobs": [-math.log(size)] * len(ids)}}
        self.reply({"choices": [choice]})

    def reply(self, data: Any, status: int = 200) -> None:
        payload = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_: Any) -> None:
        pass


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--port", type=int)
    parser.add_argument("--max-model-len", type=int)
    options, _ = parser.parse_known_args()
    # The process of the engine, which outlives the death of the process that answers requests.
    engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    record = {"pid": os.getpid(), "engine": engine.pid, "arguments": sys.argv[1:], "environment": dict(os.environ)}
    with (FOLDER / "starts.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\n")
    if "exit" in MODE:
        print(MODE["exit"], flush=True)
        sys.exit(3)
    if "hang" in MODE:
        time.sleep(600)
    options.vocabulary = json.loads((options.model / "config.json").read_bytes())["vocab_size"]
    Handler.options = options
    signal.signal(signal.SIGTERM, lambda *_: (engine.terminate(), os._exit(0)))
    print("Application startup complete.", flush=True)
    Server(("127.0.0.1", options.port), Handler).serve_forever()


if __name__ == "__main__":
    main()
