"""An OpenEnv server and a client that run one episode, with the environment's expert in place of a model."""

import socket
from threading import Thread

import uvicorn

from trace_gym import Say, registry
from trace_gym.adapters import openenv
from trace_gym.chat_formats import FORMATS

# The same server as: trace-gym serve-openenv tau2_precondition
listener = socket.create_server(("127.0.0.1", 0))
server = uvicorn.Server(uvicorn.Config(openenv.app("tau2_precondition"), log_level="warning"))
Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True).start()

with openenv.Remote(f"http://127.0.0.1:{listener.getsockname()[1]}") as rollout:
    rollout.reset(seed=7)
    expert = registry.start_episode(rollout.result["scenario"]).start.oracle()
    while not rollout.done:
        step = next(expert)  # a model would read rollout.messages and rollout.tools
        rollout.take(step.text if isinstance(step, Say) else FORMATS["hermes"].render(step))
    for message in rollout.messages[1:]:
        print(f"{message['role']}: {message['content'][:100] or message['tool_calls'][0]['function']}")
    print("reward:", rollout.reward)

server.should_exit = True
