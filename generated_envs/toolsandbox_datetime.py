"""Reckon dates from the phone's clock, and carry over where a week, month, year or day ends.

Reminders are set by timestamp, and people say "next Friday", "in nine days", or name the time of
another zone. What that comes to depends on the phone's clock, which an agent has to read, and on
whether a week, month, year or day ends in between: half of the problems are worded like the other
half and carry something over. An agent that adds to the numbers of a date without carrying lands on
a wrong day, and one that guesses the present lands anywhere. The clock and the tools for dates are
those of the target, where reminders are the most frequent records and the clock is the only source
of today's date.

Levels:
    0. So many days from today; the month may end in between.
    1. The next such weekday, too.
    2. Dates in another time zone, too, and reminders of which the next that is due is to be moved.
    3. The days until a holiday are to be counted, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.toolsandbox.assistant import GREETINGS, SKILLS, TRIES, Assistant, records
from trace_gym.targets.toolsandbox.errands import chore, clock, date
from trace_gym.targets.toolsandbox.schedule import Countdown, Postpone, Remind, When
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Please {wish}.",
    "Could you {wish}?",
    "I would like you to {wish}.",
    "Hi, can you {wish}?",
)
DEEDS = (  # per level: what is asked for
    ("remind", "remind", "move"),
    ("remind", "move"),
    ("remind", "upcoming", "upcoming"),
    ("remind", "upcoming", "upcoming", "countdown"),
)
TIMES = (  # per level: how the time is given
    ("days",),
    ("days", "weekday"),
    ("weekday", "zone"),
    ("weekday", "zone"),
)
HOLIDAYS = ("Memorial Day", "Independence Day", "Labor Day", "Thanksgiving", "Christmas Day")
ZONES = (-8, -5, 2, 9, 10)


@dataclass(kw_only=True)
class ToolsandboxDatetime(Assistant):
    """Reckon dates from the phone's clock, and carry over where a week, month, year or day ends."""

    id = "toolsandbox_datetime"
    capability = "datetime_reasoning"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        needed = rng.random() < 0.5
        for _ in range(TRIES):  # all that decides is drawn first, and the rest of the phone once
            diary = records.diary(rng)
            world = cls(**diary)
            request = world.request(rng, rng.choice(DEEDS[level]), world.time(rng, rng.choice(TIMES[level])))
            if request.carries(world) is needed:
                break
        world = cls(**records.phone(rng, diary))
        world.requests = [request]
        world.wording = rng.choice(OPENINGS).format(wish=request.wish)
        world.greeting = rng.choice(GREETINGS) if rng.random() < 0.25 else ""
        return world

    def time(self, rng: Random, kind: str) -> When:
        """A time, on a day that is given in one of several ways."""
        match kind:
            case "days":
                return clock(rng, days=rng.randint(1, 12))
            case "weekday":
                return clock(rng, weekday=rng.randint(1, 7))
        return clock(rng, on=date(self, rng.randint(2, 40)), zone=rng.choice(ZONES))

    def request(self, rng: Random, deed: str, when: When) -> Remind | Postpone | Countdown:
        """A reminder to be set or moved, or days to be counted."""
        match deed:
            case "move":
                return Postpone(rng.choice([r["content"] for r in self.reminders.values()]), when)
            case "upcoming":
                return Postpone("", when)
            case "countdown":
                return Countdown(rng.choice(HOLIDAYS))
        return Remind(chore(rng, self), when)

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
