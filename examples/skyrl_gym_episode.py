"""One rollout through skyrl-gym, as SkyRL's generator makes it, and a data set of such rollouts."""

from pathlib import Path
from tempfile import mkdtemp

import skyrl_gym

from trace_gym import Say, scenarios
from trace_gym.adapters.skyrl import write_dataset  # importing it registers the environments
from trace_gym.chat_formats import FORMATS

env = skyrl_gym.make("trace/tau2-precondition-v0", extras={"scenario": "tau2_precondition/1/1"})
prompt, _ = env.init([])  # the policy, the tools and the user's first words
print("user:", prompt[-1]["content"])
for step in env.episode.start.oracle():  # in training, a model writes these turns
    text = step.text if isinstance(step, Say) else FORMATS["hermes"].render(step)
    answer = env.step(text)
    print("assistant:", text)
    for message in answer["observations"]:
        print(f"{message['role']}: {message['content'][:100]}")
print("reward:", answer["reward"], env.get_metrics())

file = Path(mkdtemp()) / "train.parquet"
print(write_dataset(file, scenarios("tau2_precondition", n=64)), "rows in", file)
