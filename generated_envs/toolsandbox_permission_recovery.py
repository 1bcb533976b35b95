"""If a setting blocks a tool, change the setting and call the tool again.

Tools of the phone require services, and no service can be switched on in low battery mode. The
error message of a tool names the service that is off, and the error message of a switch names the
setting that blocks it. The agent must follow this chain of settings, but change no other setting.
In about a third to a half of the scenarios, nothing blocks the request, and the messages of the
user are the same in both cases, so only the error message shows the difference. An agent that gives
up after the first error fails, and so does an agent that switches on every service. The tools,
their dependencies and their classes of errors are those of the target, whose agents are instructed
to resolve such problems without help.

Levels:
    0. The request requires one service, which is on or off.
    1. Low battery mode may block the service.
    2. The request requires two services or none. Low battery mode is on or off.
    3. The user may forbid changes of low battery mode, so that some requests are impossible.
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
STATES = (  # per level: weights of low battery mode, of a service that is off, and of no obstacle
    (0, 50, 50),
    (40, 20, 40),
    (45, 25, 30),
    (40, 25, 35),
)


@dataclass(kw_only=True)
class ToolsandboxPermissionRecovery(Assistant):
    """If a setting blocks a tool, change the setting and call the tool again."""

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
