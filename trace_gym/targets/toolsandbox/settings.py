"""Settings of the phone. Low battery mode disables the services, and tools require services."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox.refusals import refusal
from trace_gym.world import World, tool

LOW_BATTERY = "low_battery_mode"
SERVICES = ("cellular", "wifi", "location_service")
LABELS = frozen(
    {
        "cellular": "cellular service",
        "wifi": "wifi",
        "location_service": "location service",
        LOW_BATTERY: "low battery mode",
    }
)
"""Mapping from setting to its name in messages."""
SWITCHES = frozen(
    {
        "cellular": "set_cellular_service_status",
        "wifi": "set_wifi_status",
        "location_service": "set_location_service_status",
        LOW_BATTERY: "set_low_battery_mode_status",
    }
)
"""Mapping from setting to the tool that switches it."""


@dataclass(kw_only=True)
class Settings(World):
    """Four switches and the phone's position. In low battery mode, all services are off and cannot be switched on."""

    target: ClassVar[str] = "toolsandbox"
    settings: dict[str, bool] = field(
        default_factory=lambda: {"cellular": True, "wifi": True, "location_service": True, LOW_BATTERY: False}
    )
    latitude: float = 0.0
    longitude: float = 0.0

    def needs_cellular(self) -> None:
        """Raise a tool error if cellular service is off."""
        if not self.settings["cellular"]:
            raise refusal("ConnectionError", "cellular service is off")

    def needs_wifi(self) -> None:
        """Raise a tool error if wifi is off."""
        if not self.settings["wifi"]:
            raise refusal("ConnectionError", "wifi is off")

    def needs_location(self) -> None:
        """Raise a tool error if location service is off."""
        if not self.settings["location_service"]:
            raise refusal("PermissionError", "location service is off")

    @tool(kind="write")
    def set_low_battery_mode_status(self, on: bool) -> None:
        self._switch(LOW_BATTERY, on)
        if on:
            self.settings |= dict.fromkeys(SERVICES, False)

    @tool(kind="write")
    def set_location_service_status(self, on: bool) -> None:
        self._switch_service("location_service", on)

    @tool(kind="write")
    def set_cellular_service_status(self, on: bool) -> None:
        self._switch_service("cellular", on)

    @tool(kind="write")
    def set_wifi_status(self, on: bool) -> None:
        self._switch_service("wifi", on)

    @tool
    def get_low_battery_mode_status(self) -> bool:
        return self.settings[LOW_BATTERY]

    @tool
    def get_location_service_status(self) -> bool:
        return self.settings["location_service"]

    @tool
    def get_cellular_service_status(self) -> bool:
        return self.settings["cellular"]

    @tool
    def get_wifi_status(self) -> bool:
        return self.settings["wifi"]

    @tool
    def get_current_location(self) -> dict[str, float]:
        self.needs_location()
        return {"latitude": self.latitude, "longitude": self.longitude}

    def _switch_service(self, name: str, on: bool) -> None:
        if on and self.settings[LOW_BATTERY]:
            raise refusal("PermissionError", f"{LABELS[name]} cannot be switched on in low battery mode")
        self._switch(name, on)

    def _switch(self, name: str, on: bool) -> None:
        if self.settings[name] == on:
            raise refusal("ValueError", f"{LABELS[name]} is {'on' if on else 'off'} already")
        self.settings[name] = on
