"""Plan around settings that tasks need and that tasks change.

A service that one part of a request switches off may be what another part needs, and low battery
mode switches off three services at once, which do not come back with it. So the parts have to be
put into an order in which each finds what it needs, and what was in the way may have to be put
back, in reverse. A third of the problems comes out right in the order of the words, as nothing
depends on it or nothing was in the way. Success is how the phone stands in the end. Chains of
settings, searches and messages that build on one another are what the target's hardest tasks are
made of.

Levels:
    0. A service is to be switched off that the other part needs; either may be named first.
    1. Or settings that were in the way are to be put back.
    2. Or low battery mode is to be on in the end, which switches off everything.
    3. Tasks that need two services, which may all have to be put back.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.toolsandbox.assistant import GREETINGS, SKILLS, Assistant, records
from trace_gym.targets.toolsandbox.errands import NEEDED, errand
from trace_gym.targets.toolsandbox.requests import Switch
from trace_gym.targets.toolsandbox.settings import LOW_BATTERY
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Please {wish}.",
    "Could you {wish}?",
    "I need you to {wish}.",
    "Hi, please {wish}.",
)
TIDY = (
    "Leave the settings as you found them.",
    "In the end, every setting must be as it is now.",
)
KINDS = (  # per level: what is asked for
    ("text", "price", "exchange", "position"),
    ("text", "price", "exchange", "position"),
    ("text", "price", "exchange", "position"),
    ("report", "report", "weather", "distance"),
)
ENDS = (  # per level: how the settings are to stand in the end
    ("service off",),
    ("service off", "as found"),
    ("low battery", "as found"),
    ("service off", "low battery", "as found"),
)


@dataclass(kw_only=True)
class ToolsandboxStateDependency(Assistant):
    """Plan around settings that tasks need and that tasks change."""

    id = "toolsandbox_state_dependency"
    capability = "state_dependency_resolution"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls.sought(rng, level, needed=rng.random() < 0.65)

    @classmethod
    def drawn(cls, rng: Random, level: int) -> Self:
        """A problem in which the order matters, or what was changed has to be put back, or neither."""
        world = cls(**records.phone(rng))
        kind = rng.choice(KINDS[level])
        world.requests = [errand(rng, world, kind)]
        low = rng.random() < 0.3
        for service in ("cellular", "wifi", "location_service"):
            world.settings[service] = not low and rng.random() < 0.6
        world.settings[LOW_BATTERY] = low
        end = rng.choice(ENDS[level])
        if end == "as found":
            world.restore = True
        else:
            setting = LOW_BATTERY if end == "low battery" else rng.choice(NEEDED[kind])
            world.requests.append(Switch(setting, on=setting == LOW_BATTERY))
            rng.shuffle(world.requests)
        words = [rng.choice(OPENINGS).format(wish=" and ".join(r.wish for r in world.requests))]
        world.wording = " ".join(words + [rng.choice(TIDY)] * world.restore)
        world.greeting = rng.choice(GREETINGS) if rng.random() < 0.25 else ""
        return world

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
