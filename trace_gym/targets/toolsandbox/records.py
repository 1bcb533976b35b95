"""Seeded ToolSandbox records: people, messages, reminders, and the tables that the search tools read.

Names come from small fixed pools. They are dissimilar enough that a search by similarity cannot confuse them.
"""

from __future__ import annotations

from random import Random
from typing import Any
from uuid import UUID

from trace_gym.targets.constants import frozen
from trace_gym.targets.toolsandbox.calendar import stamp
from trace_gym.targets.toolsandbox.settings import LOW_BATTERY

Data = dict[str, Any]

# fmt: off
FIRST_NAMES = (
    "Amara", "Bruno", "Celeste", "Dmitri", "Esther", "Farid", "Greta", "Hamza", "Ingrid", "Jasper", "Kenji", "Lucia",
    "Mateo", "Noemi", "Oscar", "Priya", "Quentin", "Rashid", "Tobias", "Ursula", "Viktor", "Wilma", "Yusuf",
)
LAST_NAMES = (
    "Abbott", "Brandt", "Castro", "Dubois", "Eriksen", "Fontaine", "Gupta", "Holm", "Ivanov", "Jensen", "Keller",
    "Lindqvist", "Moreau", "Nakata", "Okafor", "Pereira", "Quist", "Romero", "Sandberg", "Tanaka", "Ueda", "Varga",
    "Weiss", "Zimmer",
)
RELATIONSHIPS = (
    "friend", "boss", "colleague", "sister", "brother", "neighbor", "dentist", "landlord", "coach", "cousin",
)
TEXTS = (
    "I will be a little late today", "The package is with the neighbors", "Dinner is at our place tonight",
    "Please bring the blue folder", "The meeting has moved upstairs", "The keys are under the mat",
    "Thank you for the lovely flowers", "The train is stuck at the border", "Our table is by the window",
    "The parking lot is closed", "Your umbrella is still here", "The tickets are in my bag",
)
CHORES = (
    "water the plants", "buy oat milk", "call the plumber", "pick up the parcel", "renew the passport", "feed the cat",
    "pay the rent", "book a haircut", "send the invoice", "clean the oven", "walk the dog", "return the library books",
)
CITIES = frozen({
    "Austin": ("Texas", 30.267, -97.743), "Boise": ("Idaho", 43.615, -116.202), "Denver": ("Colorado", 39.739, -104.99),
    "Madison": ("Wisconsin", 43.073, -89.401), "Portland": ("Oregon", 45.515, -122.679),
    "Raleigh": ("North Carolina", 35.78, -78.638), "Tucson": ("Arizona", 32.222, -110.975),
    "Tulsa": ("Oklahoma", 36.154, -95.993), "Omaha": ("Nebraska", 41.257, -95.934),
    "Spokane": ("Washington", 47.659, -117.426), "Albany": ("New York", 42.653, -73.756),
})
PLACES = frozen({
    "Harbor Museum": "museum", "Cedar Library": "library", "North Station": "station", "Orchid Theater": "theater",
    "Maple Hospital": "hospital", "Summit Gym": "gym", "Willow Bakery": "bakery", "Granite Hotel": "hotel",
})
COMPANIES = frozen({
    "Northwind": "NWND", "Larkspur": "LKSP", "Bluepeak": "BLPK", "Quillon": "QLLN", "Ferrowave": "FRWV",
    "Solstead": "SLST", "Mirabrook": "MRBK", "Tessaro": "TSRO",
})
RATES = frozen({
    "USD": 1.0, "EUR": 0.92, "GBP": 0.79, "JPY": 151.3, "CHF": 0.88, "CAD": 1.36, "SEK": 10.6, "MXN": 17.1, "INR": 83.4,
})
SKIES = ("Sunny", "Cloudy", "Light rain", "Overcast", "Snow", "Windy")
STREETS = ("Elm Road", "Harbor Street", "Mill Lane", "Hill Avenue", "Park Drive", "Lake View")
# fmt: on

HOUR, DAY = 3600.0, 86400.0


def diary(rng: Random) -> Data:
    """Return the time-dependent fields of a phone: the clock and the reminders."""
    now = moment(rng)
    return {"now": now, "reminders": reminders(rng, now, rng.randint(3, 5))}


def phone(rng: Random, known: Data | None = None) -> Data:
    """Return the fields of a phone with all services on, and with random people, messages, reminders and tables.

    Args:
        rng: Source of randomness.
        known: A result of `diary` to use instead of a new clock and new reminders.
    """
    now = known["now"] if known else moment(rng)
    people = contacts(rng, rng.randint(4, 6))
    own, *others = people.values()
    cities = {name: city(rng, name) for name in rng.sample(list(CITIES), k=2)}
    here = next(iter(cities.values()))
    return {
        "settings": {"cellular": True, "wifi": True, "location_service": True, LOW_BATTERY: False},
        "latitude": round(here["latitude"] + rng.uniform(-0.1, 0.1), 3),
        "longitude": round(here["longitude"] + rng.uniform(-0.1, 0.1), 3),
        "now": now,
        "contacts": people,
        "messages": messages(rng, own, others, now, rng.randint(2, 4)),
        "reminders": known["reminders"] if known else reminders(rng, now, rng.randint(3, 5)),
        "cities": cities,
        "places": places(rng, cities, 3),
        "stocks": stocks(rng, rng.randint(3, 4)),
        "rates": {code: RATES[code] for code in rng.sample(list(RATES), k=5)},
    }


def moment(rng: Random) -> float:
    """Return a random time between 7:00 and 21:00 UTC in the years 2025 to 2027."""
    day = stamp(2025, 1, 1) + rng.randrange(3 * 365) * DAY
    return day + rng.randint(7, 20) * HOUR + rng.randint(0, 59) * 60 + rng.randint(1, 59)


def key(rng: Random) -> str:
    """Return a random id in the format of the benchmark."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def number(rng: Random) -> str:
    """Return a random phone number from the range reserved for fictional use."""
    return f"+1{rng.randint(201, 989)}55501{rng.randint(0, 99):02d}"


def contact(rng: Random, name: str, relationship: str) -> Data:
    """Return a contact; the contact with the relationship ``self`` is the user."""
    return {
        "person_id": key(rng), "name": name, "phone_number": number(rng), "relationship": relationship,
        "is_self": relationship == "self",
    }  # fmt: skip


def contacts(rng: Random, count: int) -> dict[str, Data]:
    """Return the user and other contacts by id, with distinct names and relationships."""
    firsts, lasts = rng.sample(FIRST_NAMES, k=count), rng.sample(LAST_NAMES, k=count)
    kinds = ["self", *rng.sample(RELATIONSHIPS, k=count - 1)]
    made = [contact(rng, f"{a} {b}", kind) for a, b, kind in zip(firsts, lasts, kinds, strict=True)]
    return {c["person_id"]: c for c in made}


def messages(rng: Random, own: Data, others: list[Data], now: float, count: int) -> dict[str, Data]:
    """Return messages between the user and others from the last two weeks by id, oldest first."""
    made = {}
    days = sorted(rng.sample(range(1, 15), k=count), reverse=True)
    for days_ago, text in zip(days, rng.sample(TEXTS, k=count), strict=True):
        sender, recipient = rng.sample([own, rng.choice(others)], k=2)
        message = key(rng)
        made[message] = {
            "message_id": message,
            "sender_person_id": sender["person_id"], "sender_phone_number": sender["phone_number"],
            "recipient_person_id": recipient["person_id"], "recipient_phone_number": recipient["phone_number"],
            "content": text, "creation_timestamp": now - days_ago * DAY - rng.randint(1, 9) * HOUR,
        }  # fmt: skip
    return made


def reminders(rng: Random, now: float, count: int) -> dict[str, Data]:
    """Return reminders with distinct contents and days by id, in random order. One of them is in the past."""
    days = [-1, *rng.sample(range(1, 15), k=count - 1)]
    rng.shuffle(days)
    made = [reminder(rng, text, now, now + d * DAY) for d, text in zip(days, rng.sample(CHORES, k=count), strict=True)]
    return {r["reminder_id"]: r for r in made}


def reminder(rng: Random, content: str, now: float, due: float) -> Data:
    """Return a reminder that is due ten minutes after a quarter hour, because no request uses such a time."""
    return {
        "reminder_id": key(rng), "content": content, "creation_timestamp": now - rng.randint(2, 9) * DAY,
        "reminder_timestamp": due - due % 900 + 600, "latitude": None, "longitude": None,
    }  # fmt: skip


def city(rng: Random, name: str) -> Data:
    """Return a city with its weather for five days. The temperatures are distinct and never whole numbers."""
    region, latitude, longitude = CITIES[name]
    degrees = iter([n / 10 for n in rng.sample([n for n in range(-80, 360, 3) if n % 10], k=17)])
    days = [forecast(rng, [next(degrees) for _ in range(3)]) for _ in range(5)]
    days[0] |= {"current_temperature": next(degrees), "perceived_temperature": next(degrees)}
    return {"region": region, "latitude": latitude, "longitude": longitude, "days": days}


def forecast(rng: Random, degrees: list[float]) -> Data:
    """Return the weather of a day with three temperatures."""
    low, middle, high = sorted(degrees)
    return {
        "max_temperature": high,
        "min_temperature": low,
        "average_temperature": middle,
        "average_humidity": rng.randint(20, 95),
        "condition": rng.choice(SKIES),
    }


def places(rng: Random, cities: dict[str, Data], count: int) -> list[Data]:
    """Return places in random cities, some kilometers from the center."""
    return [place(rng, name, *rng.choice(list(cities.items()))) for name in rng.sample(list(PLACES), k=count)]


def place(rng: Random, name: str, where: str, city: Data) -> Data:
    """Return a place in the format of search results."""
    street = f"{rng.randint(2, 99)} {rng.choice(STREETS)}"
    return {
        "name": name, "full_address": f"{name}, {street}, {where}, {city['region']}",
        "latitude": round(city["latitude"] + rng.uniform(-0.2, 0.2), 4),
        "longitude": round(city["longitude"] + rng.uniform(-0.2, 0.2), 4),
        "phone_number": number(rng), "types": [PLACES[name]], "rating": rng.randint(30, 50) / 10,
        "city": f"{where}, {city['region']}",
    }  # fmt: skip


def stocks(rng: Random, count: int) -> dict[str, Data]:
    """Return stocks by symbol, with clearly different prices."""
    prices = [n + rng.randint(1, 99) / 100 for n in rng.sample(range(20, 480, 3), k=count)]
    made = {}
    for name, price in zip(rng.sample(list(COMPANIES), k=count), prices, strict=True):
        change = rng.randint(-300, 300) / 100
        made[COMPANIES[name]] = {
            "name": name, "symbol": COMPANIES[name], "exchange": rng.choice(("NASDAQ", "NYSE")),
            "price": round(price, 2), "change": change, "percent_change": round(100 * change / price, 2),
            "currency": "USD",
        }  # fmt: skip
    return made
