"""Environment of verifiers 0.3 with the problems of a reasoning-gym data set, to be validated.

    pip install trace-gym 'verifiers>=0.3,<0.4' reasoning-gym
    trace-gym validate 'verifiers:verifiers_reasoning_gym?gym=spell_backward' --only TG301 --only TG601

The environment class is part of verifiers.
"""

import verifiers as vf
from verifiers.envs.integrations.reasoninggym_env import ReasoningGymEnv


def load_environment(gym: str = "chain_sum", size: int = 100) -> vf.Environment:
    """Return the environment with `size` problems of a data set."""
    return ReasoningGymEnv(gym, num_train_examples=size, num_eval_examples=1)
