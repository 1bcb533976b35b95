"""Calculate dates from the phone's clock, also across the end of a day, week, month or year.

Reminders are set by timestamp, but users say "next Friday" or "in nine days", or name a time in
another time zone. The correct date depends on the phone's clock, which the agent must read, and on
whether a week, month, year or day ends in between. In about half of the scenarios, the calculation
carries over such an end. The wording is the same in both halves. An agent that adds the numbers
without carrying gets a wrong date, and so does an agent that guesses the current date. The clock
and the tools for dates are those of the target, where reminders are the most frequent records and
the clock is the only source of the current date.

Levels:
    0. A number of days from today. The month may end in between.
    1. Also the next occurrence of a weekday.
    2. Also dates in another time zone, and moving the next reminder that is due.
    3. Also the number of days until a holiday.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from trace_gym.targets.toolsandbox.assistant import GREETINGS, SKILLS, TRIES, Assistant, records
from trace_gym.targets.toolsandbox.random_requests import date, random_time, reminder_text
from trace_gym.targets.toolsandbox.schedule import Countdown, Postpone, Remind, When
from trace_gym.world import Call, Random, Say

OPENINGS = (
    "Please {wish}.",
    "Could you {wish}?",
    "I would like you to {wish}.",
    "Hi, can you {wish}?",
)
REQUESTS = (  # per level: kinds of requests
    ("remind", "remind", "move"),
    ("remind", "move"),
    ("remind", "upcoming", "upcoming"),
    ("remind", "upcoming", "upcoming", "countdown"),
)
TIMES = (  # per level: ways to state the time
    ("days",),
    ("days", "weekday"),
    ("weekday", "zone"),
    ("weekday", "zone"),
)
HOLIDAYS = ("Memorial Day", "Independence Day", "Labor Day", "Thanksgiving", "Christmas Day")
ZONES = (-8, -5, 2, 9, 10)


@dataclass(kw_only=True)
class ToolsandboxDatetime(Assistant):
    """Calculate dates from the phone's clock, also across the end of a day, week, month or year."""

    id = "toolsandbox_datetime"
    capability = "datetime_reasoning"
    levels = range(4)

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
        needed = rng.random() < 0.5
        for _ in range(TRIES):  # draw the decisive data first, and the rest of the phone only once
            diary = records.diary(rng)
            world = cls(**diary)
            request = world.request(rng, rng.choice(REQUESTS[level]), world.time(rng, rng.choice(TIMES[level])))
            if request.carries(world) is needed:
                break
        world = cls(**records.phone(rng, diary))
        world.requests = [request]
        world.wording = rng.choice(OPENINGS).format(wish=request.wish)
        world.greeting = rng.choice(GREETINGS) if rng.random() < 0.25 else ""
        return world

    def time(self, rng: Random, kind: str) -> When:
        """Return a time on a day that is stated in one of several ways."""
        match kind:
            case "days":
                return random_time(rng, days=rng.randint(1, 12))
            case "weekday":
                return random_time(rng, weekday=rng.randint(1, 7))
        return random_time(rng, on=date(self, rng.randint(2, 40)), zone=rng.choice(ZONES))

    def request(self, rng: Random, kind: str, when: When) -> Remind | Postpone | Countdown:
        """Return a request to set or move a reminder, or to count days."""
        match kind:
            case "move":
                return Postpone(rng.choice([r["content"] for r in self.reminders.values()]), when)
            case "upcoming":
                return Postpone("", when)
            case "countdown":
                return Countdown(rng.choice(HOLIDAYS))
        return Remind(reminder_text(rng, self), when)

    def oracle(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS)

    def ablated(self) -> Iterator[Call | Say]:
        return self.serve(SKILLS - {self.capability})
