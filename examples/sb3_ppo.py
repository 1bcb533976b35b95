"""PPO of stable-baselines3 learns an environment without any language model: `sb3_ppo.py [ENV] [STEPS]`."""

import sys

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env

from trace_gym.adapters.menu import MenuEnv
from trace_gym.statistics import wilson

ENV = sys.argv[1] if len(sys.argv) > 1 else "tau2_multi_step"
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 40_000
LEVEL, PARTS, HELD_OUT = 0, 8, 100


def successes(model: PPO) -> int:
    """How many of the first held-out scenarios the policy solves."""
    env, solved = MenuEnv(ENV, level=LEVEL, split="test"), 0
    for seed in range(HELD_OUT):
        observation, _ = env.reset(seed=seed)
        done = False
        while not done:
            action, _ = model.predict(observation, deterministic=True)
            observation, _, ended, cut, info = env.step(action)
            done = ended or cut
        solved += info["success"]
    return solved


train = make_vec_env(MenuEnv, n_envs=16, seed=0, env_kwargs={"name": ENV, "level": LEVEL})
model = PPO("MlpPolicy", train, n_steps=128, batch_size=256, n_epochs=4, learning_rate=1e-3, ent_coef=0.05, seed=0)
curve = []
for part in range(PARTS + 1):
    if part:
        model.ent_coef = 0.05 * (1 - part / PARTS)  # explore first
        model.learn(STEPS // PARTS, reset_num_timesteps=part == 1)
    solved = successes(model)
    low, high = wilson(solved, HELD_OUT)
    curve.append((model.num_timesteps, solved / HELD_OUT))
    print(f"{model.num_timesteps:7d} steps  {solved / HELD_OUT:4.0%} of unseen ones solved [{low:.0%}, {high:.0%}]")

try:
    from matplotlib import pyplot
except ImportError:
    sys.exit()
pyplot.plot(*zip(*curve, strict=True), marker="o")
pyplot.xlabel("steps")
pyplot.ylabel("success on unseen scenarios")
pyplot.savefig("sb3_ppo.png")
