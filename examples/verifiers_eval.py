"""An evaluation with verifiers, against an endpoint on this machine.

verifiers finds a taskset by the name of a module. This file is that module; a model of yours needs the first three
lines alone, and the command that stands at the end.
"""

from trace_gym.adapters.verifiers import TraceHarness, TraceTaskset, TraceVerifiersEnv

__all__ = ["TraceVerifiersEnv", "TraceHarness", "TraceTaskset"]

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread

from trace_gym import Say, registry

ENV, SPLIT, N = "tau2_precondition", "validate", 6


class Endpoint(BaseHTTPRequestHandler):
    """Stands in for a model: it knows the answers to every second problem, and to the others those of a poor agent."""

    plans: dict[str, list] = {}

    def do_POST(self) -> None:
        messages = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"]
        plan, turn = self.plans[messages[1]["content"]], sum(m["role"] == "assistant" for m in messages)
        step = plan[turn] if turn < len(plan) else Say("Done.")
        message = {"role": "assistant", "content": step.text if isinstance(step, Say) else None}
        if not isinstance(step, Say):
            function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
            message["tool_calls"] = [{"id": f"call_{turn}", "type": "function", "function": function}]
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        body = {"id": "0", "object": "chat.completion", "created": 0, "model": "scripted", "choices": [choice]}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    from verifiers.v1.cli.eval.main import main

    for n, scenario in enumerate(registry.scenarios(ENV, SPLIT, N)):
        world = registry.start_episode(scenario).start
        Endpoint.plans[world.opening()] = list(world.ablated() if n % 2 else world.oracle())
    server, out = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint), Path(mkdtemp())
    Thread(target=server.serve_forever, daemon=True).start()
    # The same as: vf-eval verifiers_eval -m scripted -n 6 ...
    taskset = ["verifiers_eval", "--env.taskset.env", ENV, "--env.taskset.split", SPLIT, "-n", str(N)]
    endpoint = ["-m", "scripted", "--client.base-url", f"http://127.0.0.1:{server.server_port}/v1"]
    main([*taskset, *endpoint, "-o", str(out), "--no-push", "--no-rich"])
    for line in next(out.rglob("traces.jsonl")).read_text().splitlines():
        [trace] = json.loads(line)["traces"]
        print(trace["task"]["key"], trace["rewards"], trace["metrics"])
