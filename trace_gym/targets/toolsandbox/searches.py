"""Search tools for places, weather, stocks and exchange rates. They read tables of the world, not web services."""

from __future__ import annotations

from dataclasses import dataclass, field

from trace_gym.targets.toolsandbox.matching import LONGEST, likeness, tidy
from trace_gym.targets.toolsandbox.measures import distance
from trace_gym.targets.toolsandbox.messaging import Data
from trace_gym.targets.toolsandbox.refusals import check_place, refusal
from trace_gym.targets.toolsandbox.settings import Settings
from trace_gym.world import tool

PLACES = 4
"""Maximum number of places that a search returns."""
AT, NEAR = 0.5, 100.0
"""Maximum distances in kilometers from a position to its address, and to the city whose weather it has."""
COMPANY = 90.0
"""Minimum similarity, from 0 to 100, of a query and the name of a company."""
CURRENCIES = (
    "AED ARS AUD BGN BMD BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HRK HUF IDR ILS INR JMD JPY KRW KZT MXN MYR "
    "NGN NOK NZD PEN PHP PLN QAR RON RUB SAR SEK SGD THB TRY TTD TWD UAH USD VND XBT ZAR"
)
"""Currency codes of the benchmark."""


@dataclass(kw_only=True)
class Searches(Settings):
    """Tables for searches. Rates are amounts per US dollar, and forecasts begin with the current day."""

    places: list[Data] = field(default_factory=list)
    cities: dict[str, Data] = field(default_factory=dict)
    """Mapping from city name to `latitude`, `longitude`, `region` and `days`, a list of daily forecasts."""
    stocks: dict[str, Data] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)

    @tool
    def search_lat_lon(self, latitude: float, longitude: float) -> str | None:
        check_place(latitude=latitude, longitude=longitude)
        self.needs_wifi()
        here = [(self._away(p, latitude, longitude), p["full_address"]) for p in self.places]
        here = [found for found in here if found[0] <= AT]
        if here:
            return str(min(here)[1])
        city = self._city(latitude, longitude)
        return f"{city}, {self.cities[city]['region']}, USA" if city else None

    @tool
    def search_location_around_lat_lon(
        self, location: str, latitude: float | None = None, longitude: float | None = None
    ) -> list[Data]:
        at = self._position(latitude, longitude)
        self.needs_wifi()
        words = tidy(location).split()
        fit = [p for p in self.places if words and all(w in _described(p) for w in words)]
        return sorted(fit, key=lambda p: (self._away(p, *at), p["name"]))[:PLACES]

    @tool
    def search_weather_around_lat_lon(
        self, days: int = 0, latitude: float | None = None, longitude: float | None = None
    ) -> Data | None:
        at = self._position(latitude, longitude)
        if days < 0:
            raise refusal("ValueError", "days must not be negative")
        self.needs_wifi()
        city = self._city(*at)
        if not city or days >= len(self.cities[city]["days"]):
            return None
        units = {"temperature_unit": "Celsius", "distance_unit": "Kilometer"}
        return {"name": city, "region": self.cities[city]["region"], "country": "USA", **units} | dict(
            self.cities[city]["days"][days]
        )

    @tool
    def search_stock(self, query: str) -> Data | None:
        self.needs_wifi()
        if (symbol := query.strip().upper()) in self.stocks:
            return self.stocks[symbol]
        if len(query) > LONGEST:
            return None
        best = max(self.stocks.values(), key=lambda s: (likeness(query, s["name"]), s["symbol"]), default=None)
        return best if best and likeness(query, best["name"]) >= COMPANY else None

    @tool
    def convert_currency(self, amount: float, from_currency_code: str, to_currency_code: str) -> float:
        source, wanted = from_currency_code.upper(), to_currency_code.upper()
        for code in (source, wanted):
            if code not in CURRENCIES.split():
                raise refusal("ValueError", f"{code[:40]!r} is no code of a currency")
        self.needs_wifi()
        for code in (source, wanted):
            if code not in self.rates:
                raise refusal("RuntimeError", f"no rate of {code} is known")
        return round(amount / self.rates[source] * self.rates[wanted], 2)

    def _position(self, latitude: float | None, longitude: float | None) -> tuple[float, float]:
        """Return the given position, or the phone's position if none is given."""
        check_place(latitude=latitude, longitude=longitude)
        if latitude is not None and longitude is not None:
            return latitude, longitude
        if latitude is not None or longitude is not None:
            raise refusal("ValueError", "give latitude and longitude, or neither")
        self.needs_location()
        return self.latitude, self.longitude

    def _city(self, latitude: float, longitude: float) -> str | None:
        """Return the nearest city within `NEAR` kilometers of a position. The position has the weather of this city."""
        near = [(self._away(c, latitude, longitude), name) for name, c in self.cities.items()]
        away, city = min(near, default=(NEAR + 1, ""))
        return city if away <= NEAR else None

    @staticmethod
    def _away(place: Data, latitude: float, longitude: float) -> float:
        return distance(place["latitude"], place["longitude"], latitude, longitude)


def _described(place: Data) -> str:
    return tidy(" ".join([place["name"], place["full_address"], *place["types"]]))
