"""Requests about dates and times: set a reminder, move a reminder, and count days until a holiday."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING

from trace_gym.targets.toolsandbox import calendar
from trace_gym.targets.toolsandbox.expert import ASKING, DATES, Expert, Plan
from trace_gym.targets.toolsandbox.lookups import short
from trace_gym.targets.toolsandbox.message_analysis import stated
from trace_gym.targets.toolsandbox.records import DAY, HOUR, Data
from trace_gym.targets.toolsandbox.requests import PhoneRequest
from trace_gym.targets.toolsandbox.wording import ago, lists_days, reminder_subject
from trace_gym.world import Check

if TYPE_CHECKING:
    from trace_gym.targets.toolsandbox.assistant import Assistant

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass
class When:
    """A time as the user states it: on a date, some days from today, or on the next occurrence of a weekday."""

    hour: int = 12
    minute: int = 0
    on: str = ""
    """Date in ISO format; empty if the time is relative to today."""
    days: int = 0
    """Days from today."""
    weekday: int = 0
    """Weekday whose next occurrence is meant, where Monday is 1; 0 if `days` is used."""
    zone: int = 0
    """Offset of the user's clock from UTC in hours; used only together with a date."""

    def __str__(self) -> str:
        at = f"at {self.hour:02d}:{self.minute:02d}"
        if self.on:
            return f"on {self.on} {at}" + (f" in the zone UTC{self.zone:+d}" if self.zone else "")
        if self.weekday:
            return f"next {WEEKDAYS[self.weekday - 1]} {at}"
        return f"tomorrow {at}" if self.days == 1 else f"in {self.days} days {at}"

    def due(self, now: float) -> float:
        """Return the timestamp of the stated time."""
        today = calendar.moment(now).date()
        ahead = (self.weekday - today.isoweekday() - 1) % 7 + 1 if self.weekday else self.days
        day = date.fromisoformat(self.on) if self.on else today + timedelta(days=ahead)
        return calendar.stamp(day.year, day.month, day.day, self.hour, self.minute) - self.zone * HOUR

    def carries(self, now: float) -> bool:
        """Return whether computing the time requires a carry to the next week, month, year or day.

        If so, an expert that only adds to the numbers of a date gets a wrong time.
        """
        today = calendar.moment(now).date()
        day = date.fromisoformat(self.on) if self.on else today
        return calendar.stamp(*self._uncarried(day, self._ahead(day)), self.minute) != self.due(now)

    def _ahead(self, today: date) -> int:
        """Return the days to add to the day of the month, without carrying a weekday to the next week."""
        if self.on:
            return 0
        return self.weekday - today.isoweekday() if self.weekday else self.days

    def _uncarried(self, day: date, ahead: int) -> tuple[int, int, int, int]:
        """Return the year, month, day and hour that an expert without carries computes."""
        last = (date(day.year + day.month // 12, day.month % 12 + 1, 1) - timedelta(days=1)).day
        return day.year, day.month, min(max(day.day + ahead, 1), last), (self.hour - self.zone) % 24

    def calculate(self, expert: Expert) -> Plan:
        """Yield the steps of an expert, and return the timestamp.

        Without the skill of date arithmetic, the expert omits carries to the next week, month or day.
        """
        if self.on:
            day = date.fromisoformat(self.on)
        else:
            now = yield from expert.do("get_current_timestamp")
            today = yield from expert.do("timestamp_to_datetime_info", timestamp=now)
            day = date(today["year"], today["month"], today["day"])
        ahead = self._ahead(day)
        if DATES not in expert.skills:
            return (yield from _stamp(expert, *self._uncarried(day, ahead), self.minute))
        made = yield from _stamp(expert, day.year, day.month, day.day, self.hour, self.minute)
        days = ahead + 7 * (ahead < 1) if self.weekday else ahead
        shift = {name: by for name, by in (("days", days), ("hours", -self.zone)) if by}
        return (yield from expert.do("shift_timestamp", timestamp=made, **shift)) if shift else made


def _stamp(expert: Expert, year: int, month: int, day: int, hour: int, minute: int) -> Plan:
    fields = {"year": year, "month": month, "day": day, "hour": hour, "minute": minute, "second": 0}
    return (yield from expert.do("datetime_info_to_timestamp", **fields))


@dataclass
class Remind(PhoneRequest):
    """Request to set a reminder."""

    content: str = ""
    when: When = field(default_factory=When)
    withheld: bool = False
    """Whether the user states the time only when asked."""

    @property
    def wish(self) -> str:
        return f"set a reminder to {self.content}" + ("" if self.withheld else f" {self.when}")

    @property
    def facts(self) -> dict[str, str]:
        return {"time": f"I want to be reminded {self.when}."}

    def carries(self, start: Assistant) -> bool:
        """Return whether computing the due time requires a carry; see `When.carries`."""
        return self.when.carries(start.now)

    def perform(self, expert: Expert) -> Plan:
        if self.withheld and ASKING not in expert.skills:
            now = yield from expert.do("get_current_timestamp")
            due = yield from expert.do("shift_timestamp", timestamp=now, hours=1)
        else:
            if self.withheld:
                yield from expert.ask("When do you want to be reminded?")
            due = yield from self.when.calculate(expert)
        yield from expert.do("add_reminder", content=self.content, reminder_timestamp=due)
        return f"I set a reminder to {self.content}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        made = [r for r in now.new_reminders(start) if reminder_subject(r["content"]) == reminder_subject(self.content)]
        yield Check.goal(f"there is a new reminder to {self.content}", bool(made))
        yield from _due(f"the reminder to {self.content}", made, self.when.due(start.now))


@dataclass
class Postpone(PhoneRequest):
    """Request to move the reminder with this content, or the next reminder that is due if `content` is empty."""

    content: str = ""
    when: When = field(default_factory=When)

    @property
    def wish(self) -> str:
        which = f"reminder to {self.content}" if self.content else "next upcoming reminder"
        return f"move my {which}, so that it is due {self.when}"

    @property
    def stated(self) -> dict[str, str]:
        which = f'The one that says "{self.content}".' if self.content else "The next one that is due."
        return {**super().stated, "reminder": which, "content": super().stated["content"] or which}

    def carries(self, start: Assistant) -> bool:
        """Return whether the new due time requires a carry or the next reminder is not the first one in the table."""
        coming = [r for r in start.reminders.values() if _due_at(r) >= start.now]
        return self.when.carries(start.now) or (not self.content and coming[0] is not self.meant(start))

    def perform(self, expert: Expert) -> Plan:
        if self.content:
            found = yield from expert.do("search_reminder", content=self.content)
            picked = next(r for r in found if r["content"] == self.content)
        else:
            now = yield from expert.do("get_current_timestamp")
            found = yield from expert.do("search_reminder", reminder_timestamp_lowerbound=now)
            picked = min(found, key=_due_at) if DATES in expert.skills else found[0]
        due = yield from self.when.calculate(expert)
        yield from expert.do("modify_reminder", reminder_id=picked["reminder_id"], reminder_timestamp=due)
        return f"I moved the reminder to {picked['content']}."

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        meant = self.meant(start)
        moved = now.reminders.get(meant["reminder_id"], meant)
        changed = [moved] if moved["reminder_timestamp"] != meant["reminder_timestamp"] else []
        yield Check.goal(f"the reminder to {meant['content']} was moved", bool(changed))
        yield from _due(f"the reminder to {meant['content']}", changed, self.when.due(start.now))

    def meant(self, start: Assistant) -> Data:
        """Return the reminder that the user means."""
        if self.content:
            return next(r for r in start.reminders.values() if r["content"] == self.content)
        return min((r for r in start.reminders.values() if _due_at(r) >= start.now), key=_due_at)


def _due_at(reminder: Data) -> float:
    return float(reminder["reminder_timestamp"])


def _due(what: str, found: list[Data], due: float) -> Iterator[Check]:
    """Yield checks that one of the reminders is due on the right day and at the right minute."""
    yield Check.goal(f"{what} is due on the right day", any(_due_at(r) // DAY == due // DAY for r in found))
    yield Check.goal(f"{what} is due at the right time", any(abs(_due_at(r) - due) < 60 for r in found))


@dataclass
class Countdown(PhoneRequest):
    """Request for the number of days until the next occurrence of a holiday, as `timestamp_diff` counts them."""

    holiday: str = ""

    @property
    def wish(self) -> str:
        return f"find out how many days it is until {self.holiday}"

    def carries(self, start: Assistant) -> bool:
        """Return whether the next occurrence of the holiday is in the next year."""
        then = calendar.holiday(self.holiday, calendar.moment(start.now).year)
        assert then is not None
        return then < start.now

    def perform(self, expert: Expert) -> Plan:
        now = yield from expert.do("get_current_timestamp")
        then = yield from expert.do("search_holiday", holiday_name=self.holiday)
        if then < now and DATES in expert.skills:
            today = yield from expert.do("timestamp_to_datetime_info", timestamp=now)
            then = yield from expert.do("search_holiday", holiday_name=self.holiday, year=today["year"] + 1)
        between = yield from expert.do("timestamp_diff", timestamp_0=now, timestamp_1=then)
        return f"It is {short(abs(between['days']))} days until {self.holiday}."

    def days(self, start: Assistant, year: int) -> int:
        """Return the whole days from now to the holiday in a year."""
        then = calendar.holiday(self.holiday, year)
        assert then is not None
        return int((then - start.now) // DAY)

    def checks(self, now: Assistant, start: Assistant, said: list[str]) -> Iterator[Check]:
        year = calendar.moment(start.now).year
        counts = [self.days(start, y) for y in (year, year + 1)]
        left = next(n for n in counts if n >= 0)
        right = stated(left, [abs(n) for n in counts if n != left], said)
        right = right and not lists_days(said) and not ago(left, said)
        yield Check.goal(f"the user was told how many days it is until {self.holiday}", right)
