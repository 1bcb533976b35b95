"""Change a setting that blocks a tool, and call the tool again.

Tools require services, which cannot be switched on in low battery mode. Each error message names
the setting that blocks the call. The agent must change these settings and no others. Only these
messages reveal whether a request is blocked.

Levels:
    0. One required service, on or off.
    1. Low battery mode may block the service.
    2. Two required services or none, with low battery mode on or off.
    3. The user may forbid changing low battery mode, so some requests are impossible.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.toolsandbox.assistant import GREETINGS, SKILLS, Assistant, records
from trace_gym.targets.toolsandbox.random_requests import NEEDED, random_request
from trace_gym.targets.toolsandbox.settings import LOW_BATTERY
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Please {wish}.",
    "Could you {wish}?",
    "I need you to {wish}, and please resolve any issue alone.",
    "Hi, please {wish}.",
)
CAREFUL = (
    "Leave low battery mode as it is.",
    "Do not touch low battery mode, my phone has to last.",
)
KINDS = (  # per level: kinds of requests
    ("text", "price", "exchange", "position"),
    ("text", "text", "price", "exchange", "position"),
    ("weather", "distance", "report", "remind", "number"),
    ("text", "weather", "report", "price", "number"),
)
STATES = (  # per level: weights of low battery mode, a service that is off, no obstacle
    (0, 50, 50),
    (40, 20, 40),
    (45, 25, 30),
    (40, 25, 35),
)


@dataclass(kw_only=True)
class ToolsandboxPermissionRecovery(Assistant):
    """Change a setting that blocks a tool, and call the tool again."""

    id = "toolsandbox_permission_recovery"
    capability = "permission_error_recovery"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        world = cls(**records.phone(rng))
        kind = rng.choice(KINDS[level])
        world.requests.append(random_request(rng, world, kind))
        state = rng.choices(("low battery", "off", "on"), STATES[level])[0]
        world.switch(rng, state, NEEDED[kind])
        careful = level > 2 and rng.random() < 0.5
        world.keep = (LOW_BATTERY,) if careful else ()
        words = [rng.choice(OPENINGS).format(wish=world.requests[0].wish)]
        world.wording = " ".join(words + [rng.choice(CAREFUL)] * careful)
        world.greeting = rng.choice(GREETINGS) if rng.random() < 0.25 else ""
        return world

    def switch(self, rng: Random, state: str, needed: tuple[str, ...]) -> None:
        """Put the settings into a state; services that the request does not need are on or off as it happens."""
        off = rng.sample(needed, k=rng.randint(1, len(needed))) if needed and state == "off" else []
        for service in ("cellular", "wifi", "location_service"):
            on = service not in off and (service in needed or rng.random() < 0.5)
            self.settings[service] = on and state != "low battery"
        self.settings[LOW_BATTERY] = state == "low battery"

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
