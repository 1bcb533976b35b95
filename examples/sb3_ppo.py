"""PPO of stable-baselines3 learns an environment without a language model; `--help` shows what can be changed."""

import argparse
from collections.abc import Callable

from numpy.typing import NDArray
from stable_baselines3.common.env_util import make_vec_env

from trace_gym import registry
from trace_gym.adapters.sb3 import MenuEnv
from trace_gym.errors import TraceGymError
from trace_gym.policies.scripted import Ablated
from trace_gym.statistics import wilson

parser = argparse.ArgumentParser()
parser.add_argument("env", nargs="?", default="tau2_multi_step")
parser.add_argument("--level", type=int, default=0)
parser.add_argument("--steps", type=int, default=49_152)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--points", type=int, default=8, help="of the curve")
parser.add_argument("--held-out", type=int, default=100, help="unseen scenarios per point")
parser.add_argument("--masked", action="store_true", help="MaskablePPO of sb3-contrib: pick among what is on offer")
parser.add_argument("--entropy", type=float, default=0.05, help="weight of exploration at the start; it falls to 0")
parser.add_argument("--gamma", type=float, default=1.0)
parser.add_argument("--plot", metavar="FILE", help="write the curve as a picture (.svg, .png); needs matplotlib")
args = parser.parse_args()

if args.masked:
    from sb3_contrib import MaskablePPO as PPO
else:
    from stable_baselines3 import PPO

try:
    unseen = MenuEnv(args.env, level=args.level, split="test")
    if args.plot:
        from matplotlib import pyplot

        pyplot.savefig(args.plot)  # an empty one: what is wrong shows before the training
except (TraceGymError, OSError, ImportError, ValueError) as error:
    parser.error(str(error))
unseen.action_space.seed(args.seed)


def solved(choose: Callable) -> int:
    """Return the number of unseen scenarios that these choices from the menu solve."""
    count = 0
    for seed in range(args.held_out):
        observation, _ = unseen.reset(seed=seed)
        done = False
        while not done:
            observation, _, ended, cut, info = unseen.step(choose(observation))
            done = ended or cut
        count += info["success"]
    return count


def solved_by(policy: Ablated) -> int:
    """Return the number of the same scenarios that a scripted expert solves."""
    count = 0
    for scenario in registry.scenarios(args.env, "test", args.held_out, levels=[args.level]):
        episode = registry.start_episode(scenario)
        while not episode.done:
            episode.step(policy.act(episode))
        count += episode.score.success
    return count


def show(name: str, count: int) -> None:
    low, high = wilson(count, args.held_out)
    print(f"{name:>14}  {count / args.held_out:4.0%}  [{low:.0%}, {high:.0%}]", flush=True)


def best(seen: NDArray) -> int:
    """Return the choice that the policy takes for the best."""
    masks = {"action_masks": unseen.action_masks()} if args.masked else {}
    return model.predict(seen, deterministic=True, **masks)[0]


show("random", solved(lambda _: unseen.action_space.sample(mask=unseen.action_masks().astype("int8"))))
show("ablated", solved_by(Ablated()))
train = make_vec_env(MenuEnv, n_envs=16, seed=args.seed, env_kwargs={"name": args.env, "level": args.level})
size = {"n_steps": 128, "n_epochs": 4, "batch_size": 256}
model = PPO("MlpPolicy", train, **size, learning_rate=1e-3, gamma=args.gamma, seed=args.seed)
curve = []
for point in range(args.points):
    model.ent_coef = args.entropy * (1 - point / args.points)  # explore first
    model.learn(args.steps // args.points, reset_num_timesteps=point == 0)
    curve.append((model.num_timesteps, solved(best)))
    show(f"{curve[-1][0]} steps", curve[-1][1])

if args.plot:
    steps, counts = zip(*curve, strict=True)
    low, high = zip(*[wilson(count, args.held_out) for count in counts], strict=True)
    pyplot.plot(steps, [count / args.held_out for count in counts], marker="o")
    pyplot.fill_between(steps, low, high, alpha=0.2, label="95% interval (Wilson)")
    pyplot.title(f"{args.env}, level {args.level}, seed {args.seed}")
    pyplot.xlabel("steps")
    pyplot.ylabel("success on unseen scenarios")
    pyplot.ylim(-0.02, 1.02)
    pyplot.legend()
    pyplot.savefig(args.plot)
