"""Reminders of the phone."""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_gym.targets.toolsandbox.messaging import (
    Data,
    PhoneClock,
    at_least,
    at_most,
    chosen,
    equal,
    fresh,
    given,
    like,
    remove,
    revise,
)
from trace_gym.targets.toolsandbox.refusals import check_place, check_timestamps, refusal
from trace_gym.world import tool


@dataclass(kw_only=True)
class Reminders(PhoneClock):
    """Table of reminders by id, with its tools."""

    reminders: dict[str, Data] = field(default_factory=dict)

    @tool(kind="write")
    def add_reminder(
        self, content: str, reminder_timestamp: float, latitude: float | None = None, longitude: float | None = None
    ) -> str:
        check_timestamps(reminder_timestamp=reminder_timestamp)
        check_place(latitude=latitude, longitude=longitude)
        key = fresh("reminder", self.reminders)
        self.reminders[key] = {
            "reminder_id": key, "content": content, "creation_timestamp": self.now,
            "reminder_timestamp": float(reminder_timestamp), "latitude": latitude, "longitude": longitude,
        }  # fmt: skip
        return key

    @tool(kind="write")
    def modify_reminder(
        self, reminder_id: str, content: str | None = None, reminder_timestamp: float | None = None,
        latitude: float | None = None, longitude: float | None = None,
    ) -> None:  # fmt: skip
        check_timestamps(reminder_timestamp=reminder_timestamp)
        check_place(latitude=latitude, longitude=longitude)
        stamp = None if reminder_timestamp is None else float(reminder_timestamp)
        changes = given(content=content, reminder_timestamp=stamp, latitude=latitude, longitude=longitude)
        if not changes:
            raise refusal("ValueError", "nothing to change; give content, reminder_timestamp, latitude or longitude")
        revise(self.reminders, reminder_id, {**changes, "creation_timestamp": self.now})

    @tool(kind="write")
    def remove_reminder(self, reminder_id: str) -> None:
        remove(self.reminders, reminder_id)

    @tool
    def search_reminder(
        self, reminder_id: str | None = None, content: str | None = None,
        creation_timestamp_lowerbound: float | None = None, creation_timestamp_upperbound: float | None = None,
        reminder_timestamp_lowerbound: float | None = None, reminder_timestamp_upperbound: float | None = None,
        latitude: float | None = None, longitude: float | None = None,
    ) -> list[Data]:  # fmt: skip
        check_timestamps(
            creation_timestamp_lowerbound=creation_timestamp_lowerbound,
            creation_timestamp_upperbound=creation_timestamp_upperbound,
            reminder_timestamp_lowerbound=reminder_timestamp_lowerbound,
            reminder_timestamp_upperbound=reminder_timestamp_upperbound,
        )
        check_place(latitude=latitude, longitude=longitude)
        return chosen(
            self.reminders,
            ("reminder_id", reminder_id, equal),
            ("content", content, like(50)),
            ("creation_timestamp", creation_timestamp_lowerbound, at_least),
            ("creation_timestamp", creation_timestamp_upperbound, at_most),
            ("reminder_timestamp", reminder_timestamp_lowerbound, at_least),
            ("reminder_timestamp", reminder_timestamp_upperbound, at_most),
            ("latitude", latitude, equal),
            ("longitude", longitude, equal),
        )
