"""Order the parts of a request by the settings that they need and change.

A service that one part of a request switches off may be required by another part. Low battery mode
switches off three services, which do not come on again with its end. The agent must therefore
choose an order in which each part finds the services that it requires, and sometimes it must
restore the changed settings in reverse order. In about a third of the scenarios, the order of the
wording is correct, because the parts are independent or no setting has to be changed. Success
depends on the final state of the phone. The most difficult tasks of the target consist of such
chains of settings, searches and messages.

Levels:
    0. A service must be switched off that the other part requires. The user may name either part first.
    1. Alternatively, the changed settings must be restored.
    2. Alternatively, low battery mode must be on at the end, which switches off all services.
    3. Requests that require two services, all of which may have to be restored.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.toolsandbox.assistant import GREETINGS, SKILLS, Assistant, records
from trace_gym.targets.toolsandbox.random_requests import NEEDED, random_request
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
KINDS = (  # per level: kinds of requests
    ("text", "price", "exchange", "position"),
    ("text", "price", "exchange", "position"),
    ("text", "price", "exchange", "position"),
    ("report", "report", "weather", "distance"),
)
ENDS = (  # per level: requested settings at the end
    ("service off",),
    ("service off", "as found"),
    ("low battery", "as found"),
    ("service off", "low battery", "as found"),
)


@dataclass(kw_only=True)
class ToolsandboxStateDependency(Assistant):
    """Order the parts of a request by the settings that they need and change."""

    id = "toolsandbox_state_dependency"
    capability = "state_dependency_resolution"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        return cls.sample_with_need(rng, level, needed=rng.random() < 0.65)

    @classmethod
    def sample(cls, rng: Random, level: int) -> Self:
        """Return a random scenario in which the order matters, changed settings must be restored, or neither."""
        world = cls(**records.phone(rng))
        kind = rng.choice(KINDS[level])
        world.requests = [random_request(rng, world, kind)]
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
