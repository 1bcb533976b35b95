"""CPU time of scripted episodes that run through each adapter, relative to a bare `Episode` in the same process.

Each scenario runs once through the library and once through `Episode`, with the same plan of the environment's oracle.
`Episode` receives the turns in the form that the library passes on (calls, text, or OpenAI messages). The script prints
the median ratio of the CPU times over several repetitions. Models, tokens and networks are not included. If a library
itself uses CPU time at every turn, the bare episode is also run together with a server of the library that does
nothing. The row "without the library" counts only the additional time of the adapter. A library that is not installed
is reported and skipped::

    python benchmarks/bench_adapters.py [environment ...]
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from trace_gym import registry  # noqa: E402
from trace_gym.chat_formats import FORMATS  # noqa: E402
from trace_gym.errors import MissingExtra  # noqa: E402
from trace_gym.score import reward  # noqa: E402
from trace_gym.types import Call, Message, Say, Scenario  # noqa: E402

ENVS = ("tau2_precondition", "tau2_structured_data", "tau2_retail_multi_step", "toolsandbox_state_dependency")
SCENARIOS, REPEATS = 24, 15
LIMIT = 1.20
"""Maximum CPU time of a thin adapter, relative to the bare episode."""

Turns = Sequence[Any]
Play = Callable[[str, Turns], float | None]
"""Function that runs one scenario with the given turns and returns the reward that the library receives."""


@dataclass(frozen=True)
class Adapter:
    """One way of running an episode through a library, and the form of the turns that the library expects."""

    name: str
    form: Callable[[Call | Say], Any]
    play: Play
    idle: Play | None = None
    """Function that runs a bare episode together with a server of the library that does nothing."""
    before: Callable[[str], object] = str
    """Function that prepares data before a scenario is timed, such as the row of a dataset."""
    thin: bool = True
    """Whether the adapter only passes turns on. `LIMIT` applies only to such adapters."""


def text(step: Call | Say) -> str:
    """Return the turn as the text that a model writes."""
    return step.text if isinstance(step, Say) else FORMATS["hermes"].render(step)


def message(step: Call | Say) -> Message:
    """Return the turn as an OpenAI assistant message."""
    if isinstance(step, Say):
        return {"role": "assistant", "content": step.text}
    function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def same(step: Call | Say) -> Call | Say:
    return step


def bare(scenario: str, turns: Turns) -> float:
    """Run a bare episode and return its reward."""
    episode = registry.start_episode(scenario)
    for turn in turns:
        episode.step(turn)
    return reward(episode.finish())


def gymnasium_ways(env: str) -> Iterator[Adapter]:
    import gymnasium

    made = gymnasium.make(registry.gym_id(env), disable_env_checker=True)

    def play(scenario: str, turns: Turns) -> float:
        made.reset(options={"scenario": scenario})
        return sum(float(made.step(turn)[1]) for turn in turns)

    yield Adapter("gymnasium", text, play)


def trl_ways(env: str) -> Iterator[Adapter]:
    from trace_gym.adapters import trl
    from trace_gym.adapters.trl.environment import environment_class

    simple: Any = trl.tool_class(env, say=True)()
    full = environment_class(env)()

    def by_tools(scenario: str, turns: Turns) -> float | None:
        simple.reset(scenario=scenario)
        for turn in turns:
            call = turn if isinstance(turn, Call) else Call("talk_to_user", {"text": turn.text})
            getattr(simple, call.tool)(**call.arguments)
        return simple.get_reward()  # type: ignore[no-any-return]

    def by_turns(scenario: str, turns: Turns) -> float | None:
        full.reset(scenario=scenario)
        for turn in turns:
            full._take(turn)
        return full.get_reward()

    yield Adapter("TRL, simple", same, by_tools)
    yield Adapter("TRL, full", text, by_turns)


def skyrl_ways(env: str) -> Iterator[Adapter]:
    from trace_gym.adapters.skyrl import opening_of  # which registers the environments

    skyrl_gym: Any = import_module("skyrl_gym")
    env_id = registry.gym_id(env)
    opening = cache(lambda scenario: opening_of(Scenario.parse(scenario)))

    def play(scenario: str, turns: Turns) -> float:
        made = skyrl_gym.make(env_id, extras={"scenario": scenario, "max_turns": 100})
        made.init(opening(scenario))
        return float(sum(made.step(turn)["reward"] for turn in turns))

    yield Adapter("skyrl-gym", text, play, before=opening)


def openenv_ways(env: str) -> Iterator[Adapter]:
    sys.modules.setdefault("gradio", None)  # type: ignore[arg-type]  # a web page, which takes seconds to import
    from trace_gym.adapters.openenv import Sessions

    sessions = Sessions([env])

    def play(scenario: str, turns: Turns) -> float | None:
        session = sessions.create(scenario)
        for turn in turns:
            session.take(turn)
        paid: float | None = session.verify([]).env_reward
        return paid

    yield Adapter("OpenEnv, session", message, play)


def mcp_ways(env: str) -> Iterator[Adapter]:
    from trace_gym.adapters.mcp import server
    from trace_gym.adapters.rollout import AdapterRollout, library

    types, lowlevel = library("mcp.types", "mcp"), library("mcp.server.lowlevel", "mcp")

    async def ask(made: Any, turn: Call | Say) -> None:
        call = turn if isinstance(turn, Call) else Call("talk_to_user", {"text": turn.text})
        params = types.CallToolRequestParams(name=call.tool, arguments=call.arguments)
        await made.request_handlers[types.CallToolRequest](types.CallToolRequest(method="tools/call", params=params))

    def play(scenario: str, turns: Turns) -> float | None:
        rollout = AdapterRollout(registry.start_episode(scenario))
        made = server(rollout)

        async def conversation() -> None:
            for turn in turns:
                await ask(made, turn)

        LOOP.run_until_complete(conversation())
        return rollout.reward

    async def fine(_: Any) -> Any:
        content = [types.TextContent(type="text", text="ok")]
        return types.ServerResult(types.CallToolResult(content=content, isError=False))

    def idle(scenario: str, turns: Turns) -> float:
        episode, made = registry.start_episode(scenario), lowlevel.Server("idle")
        made.request_handlers[types.CallToolRequest] = fine

        async def conversation() -> None:
            for turn in turns:
                await ask(made, turn)
                episode.step(turn)

        LOOP.run_until_complete(conversation())
        return reward(episode.finish())

    yield Adapter("MCP, handlers", same, play, idle)


def verifiers_ways(env: str) -> Iterator[Adapter]:
    from trace_gym.adapters.verifiers import _converse

    def play(scenario: str, turns: Turns) -> float | None:
        episode, plan = registry.start_episode(scenario), iter(turns)

        async def create(**_: Any) -> Any:
            return SimpleNamespace(choices=[SimpleNamespace(message=next(plan))])

        client = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
        LOOP.run_until_complete(_converse(client, "m", episode, list(episode.messages)))
        return reward(episode.finish())

    yield Adapter("verifiers, harness", _completion, play)


class _completion(dict[str, Any]):
    """A message in the form that the endpoint's client returns."""

    def __init__(self, step: Call | Say) -> None:
        super().__init__(message(step))

    def model_dump(self, **_: Any) -> Message:
        return self


def menu_ways(env: str) -> Iterator[Adapter]:
    """Yield the menu adapter, with a policy that encodes the conversation after every turn, and a baseline.

    The baseline is the bare episode plus the work that every menu must do: parse the words and the records of the
    conversation. Neither is a thin adapter.
    """
    from trace_gym.adapters.sb3 import MenuEnv, results
    from trace_gym.policies.seen import words_of

    made = MenuEnv(env)

    def play(scenario: str, turns: Turns) -> float:
        made.reset(options={"scenario": scenario})
        paid = 0.0
        for turn in turns:
            made.text.episode.step(turn)
            made.menu.encode(made.text.episode.messages)
            score = made.text.episode.score
            paid = reward(score) if score else 0.0
        return paid

    def reading(scenario: str, turns: Turns) -> float:
        episode = registry.start_episode(scenario)
        for turn in turns:
            episode.step(turn)
        for message in episode.messages:
            if message["role"] == "user":
                words_of(message["content"]), results.tokens(message["content"])
            elif message["role"] == "tool":
                for record in results.read(message["content"]).records:
                    results.tokens(" ".join(str(v) for v in record.values() if not isinstance(v, (dict, list))))
        return reward(episode.finish())

    def forget(_: str) -> None:
        for memory in (results.read, results.tokens, words_of):
            memory.cache_clear()

    yield Adapter("menu for SB3", same, play, before=forget, thin=False)
    yield Adapter("menu for SB3, reading alone", same, reading, before=forget, thin=False)


LIBRARIES = (gymnasium_ways, trl_ways, skyrl_ways, openenv_ways, mcp_ways, verifiers_ways, menu_ways)
LOOP = asyncio.new_event_loop()


def ratios(adapter: Adapter, plans: dict[str, list[Call | Say]], repeats: int = REPEATS) -> tuple[float, float | None]:
    """Return the cost of an adapter relative to the bare episode, with and without the cost of its library.

    Both values are medians over the repetitions. The second is None if the library cannot be timed separately. Each
    repetition uses different scenarios, so that it cannot benefit from values that an earlier repetition cached.
    """
    ways = [adapter.play, bare, *([adapter.idle] if adapter.idle else [])]
    whole, own = [], []
    for n in range(repeats):
        given = {at: [adapter.form(step) for step in plans[at]] for at in list(plans)[n::repeats]}
        for scenario in given:
            adapter.before(scenario)
        spent = dict.fromkeys(ways, 0.0)
        for scenario, turns in given.items():
            for way in ways if n % 2 else reversed(ways):
                start = time.process_time()
                paid = way(scenario, turns)
                spent[way] += time.process_time() - start
                assert paid == 1.0, (adapter.name, scenario, paid)
        whole.append(spent[adapter.play] / spent[bare])
        if adapter.idle:
            own.append(1 + (spent[adapter.play] - spent[adapter.idle]) / spent[bare])
    return median(whole), median(own) if own else None


def main() -> None:
    envs = sys.argv[1:] or ENVS
    warnings.simplefilter("ignore")  # of libraries
    rows: dict[str, list[float]] = {}
    held: set[str] = set()
    for env in envs:
        scenarios = registry.scenarios(env, "validate", SCENARIOS * REPEATS)
        plans = {str(s): list(registry.start_episode(s).start.oracle()) for s in scenarios}
        for ways in LIBRARIES:
            try:
                for adapter in ways(env):
                    whole, own = ratios(adapter, plans)
                    rows.setdefault(adapter.name, []).append(whole)
                    if own is not None:
                        rows.setdefault(alone := f"{adapter.name}, without the library", []).append(own)
                    held |= {adapter.name if own is None else alone} if adapter.thin else set()
            except (ImportError, MissingExtra) as error:
                if env == envs[0]:
                    print(f"left out: {error}", file=sys.stderr)
    print("| through | " + " | ".join(envs) + " |\n|---|" + "---:|" * len(envs))
    for name, found in rows.items():
        print(f"| {name} | " + " | ".join(f"{r:.2f}" for r in found) + " |")
    if over := [name for name in rows if name in held and max(rows[name]) > LIMIT]:
        sys.exit(f"above {LIMIT}: {', '.join(over)}")


if __name__ == "__main__":
    main()
