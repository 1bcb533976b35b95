"""Tools for the clock, dates, units, distances and holidays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from trace_gym.targets.toolsandbox import calendar, measures
from trace_gym.targets.toolsandbox.messaging import PhoneClock
from trace_gym.targets.toolsandbox.refusals import check_place, check_timestamps, refusal
from trace_gym.world import tool


@dataclass(kw_only=True)
class Utilities(PhoneClock):
    """Tools that do not use tables of records."""

    @tool
    def get_current_timestamp(self) -> float:
        return self.now

    @tool(kind="generic")
    def timestamp_to_datetime_info(self, timestamp: float) -> dict[str, int]:
        check_timestamps(timestamp=timestamp)
        at = calendar.moment(timestamp)
        return {
            "year": at.year, "month": at.month, "day": at.day, "hour": at.hour, "minute": at.minute,
            "second": at.second, "isoweekday": at.isoweekday(),
        }  # fmt: skip

    @tool(kind="generic")
    def datetime_info_to_timestamp(
        self, year: int, month: int, day: int, hour: int, minute: int, second: int
    ) -> float:  # fmt: skip
        try:
            return calendar.stamp(year, month, day, hour, minute, second)
        except (ValueError, OverflowError) as error:
            raise refusal("ValueError", f"there is no such date or time: {error}") from None

    @tool(kind="generic")
    def shift_timestamp(
        self, timestamp: float, weeks: int = 0, days: int = 0, hours: int = 0, minutes: int = 0, seconds: int = 0
    ) -> float:
        check_timestamps(timestamp=timestamp)
        try:
            by = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
            return (calendar.moment(timestamp) + by).timestamp()
        except OverflowError:
            raise refusal("OverflowError", "the date lies outside the years 1 to 9999") from None

    @tool(kind="generic")
    def timestamp_diff(self, timestamp_0: float, timestamp_1: float) -> dict[str, int]:
        check_timestamps(timestamp_0=timestamp_0, timestamp_1=timestamp_1)
        between = calendar.moment(timestamp_1) - calendar.moment(timestamp_0)
        return {"days": between.days, "seconds": between.seconds}

    @tool(kind="generic")
    def seconds_to_hours_minutes_seconds(self, seconds: float) -> dict[str, int]:
        try:
            at = calendar.moment(seconds)
        except OverflowError:
            raise refusal("OverflowError", "the seconds lie outside the years 1 to 9999") from None
        return {"hour": at.hour, "minute": at.minute, "second": at.second}

    @tool(kind="generic")
    def unit_conversion(self, amount: float, from_unit: str, to_unit: str) -> float:
        try:
            return measures.converted(amount, from_unit, to_unit)
        except KeyError as error:
            raise refusal("UndefinedUnitError", f"there is no unit {str(error.args[0])[:40]!r}") from None
        except ValueError as error:
            raise refusal("DimensionalityError", str(error)) from None

    @tool(kind="generic")
    def calculate_lat_lon_distance(
        self, latitude_0: float, longitude_0: float, latitude_1: float, longitude_1: float
    ) -> float:
        check_place(latitude_0=latitude_0, latitude_1=latitude_1, longitude_0=longitude_0, longitude_1=longitude_1)
        return measures.distance(latitude_0, longitude_0, latitude_1, longitude_1)

    @tool
    def search_holiday(self, holiday_name: str, year: int | None = None) -> float | None:
        self.needs_wifi()
        wanted = calendar.moment(self.now).year if year is None else year
        return calendar.holiday(holiday_name, wanted) if 1 <= wanted < 9999 else None
