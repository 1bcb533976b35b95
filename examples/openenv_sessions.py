"""A group of rollouts through OpenEnv's harness, as TRL's asynchronous trainer plays them; experts stand in for it."""

from openenv.core.harness import ModelStepResult
from openenv.core.llm_client import LLMResponse, ToolCall

from trace_gym import Say, registry
from trace_gym.adapters.openenv import Conversation, Sessions


def sampler(steps):
    """Stands in for a model, which would read the messages and the tools."""

    def model_step(messages, tools, sampling):
        step = next(steps, Say("Done."))
        if isinstance(step, Say):
            return ModelStepResult(LLMResponse(step.text))
        return ModelStepResult(LLMResponse("", [ToolCall("call", step.tool, step.arguments)]))

    return model_step


sessions = Sessions(["tau2_precondition", "tau2_multi_step"])
for expert in ("oracle", "oracle", "ablated", "ablated"):
    session = sessions.create("any prompt", seed=3)  # a group has one seed, and so one scenario
    at = session.rollout.result["scenario"]
    steps = getattr(registry.start_episode(at).start, expert)()
    rollout = Conversation().run_white_box(sampler(steps), session)
    verdict = session.verify(rollout.messages)
    print(at, expert, rollout.metrics, "reward", verdict.env_reward)
    session.close()
