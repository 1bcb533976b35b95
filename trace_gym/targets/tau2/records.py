"""Seeded records of the tau2 airline domain: customers, reservations and flights.

Values come from small fixed pools, so that episodes are readable and small tokenizers represent the values as whole
words. Scenarios differ in the combination of values.
"""

from __future__ import annotations

from random import Random

from trace_gym.targets.constants import frozen
from trace_gym.targets.tau2.generic import Data as Data

NOW = "2024-05-15T15:00:00"
TODAY = NOW[:10]
CABINS = ("basic_economy", "economy", "business")
MEMBERSHIPS = ("regular", "silver", "gold")

# fmt: off
AIRPORTS = frozen({
    "SFO": "San Francisco", "JFK": "New York", "LAX": "Los Angeles", "ORD": "Chicago", "DFW": "Dallas", "DEN": "Denver",
    "SEA": "Seattle", "ATL": "Atlanta", "MIA": "Miami", "BOS": "Boston", "PHX": "Phoenix", "IAH": "Houston",
    "LAS": "Las Vegas", "MCO": "Orlando", "EWR": "Newark", "CLT": "Charlotte", "MSP": "Minneapolis", "DTW": "Detroit",
    "PHL": "Philadelphia", "LGA": "LaGuardia",
})
FIRST_NAMES = (
    "Aino", "Bela", "Cara", "Dara", "Edda", "Finn", "Gita", "Hugo", "Iris", "Joel", "Kaya", "Lars", "Mona", "Nils",
    "Olga", "Pavel", "Rosa", "Sven", "Tara", "Uma", "Vito", "Wanda", "Yara", "Zeno",
)
LAST_NAMES = (
    "Abe", "Berg", "Cruz", "Diaz", "Eder", "Falk", "Goto", "Haas", "Ito", "Jung", "Koch", "Lima", "Mori", "Noor",
    "Okoye", "Papp", "Rao", "Sato", "Toth", "Usman", "Vega", "Wolf", "Yilmaz", "Zhou",
)
STREETS = ("12 Elm Road", "48 Harbor Street", "7 Mill Lane", "301 Hill Avenue", "95 Park Drive", "26 Lake View")
STATES = (("Austin", "TX", "78750"), ("Tampa", "FL", "33602"), ("Salem", "OR", "97301"), ("Boise", "ID", "83702"))
# fmt: on

_pools = Random("trace_gym/tau2/pools")  # do not change the seed: it determines every scenario
_letters = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"
CODES = tuple(sorted({"".join(_pools.choices(_letters, k=6)) for _ in range(120)}))
NUMBERS = tuple(sorted(_pools.sample(range(1_000_000, 10_000_000), k=96)))
FLIGHT_NUMBERS = tuple(f"HAT{n:03d}" for n in sorted(_pools.sample(range(1, 300), k=100)))
USER_NUMBERS = tuple(sorted(_pools.sample(range(1000, 10_000), k=24)))
MONTHS_AND_DAYS = ("03-04", "08-17", "11-25", "01-09", "06-30") * 10
BIRTHDAYS = tuple(f"{year}-{on}" for year, on in zip(range(1950, 2000), MONTHS_AND_DAYS, strict=True))
CLOCK = ("01:12:09", "04:40:31", "07:05:52", "09:33:20", "11:48:07", "13:21:44", "16:02:18", "18:57:36", "21:15:03")
FARES = tuple(range(52, 600, 7))
"""Values from which prices are drawn."""


def day(offset: int) -> str:
    """Return the date that is `offset` days after today. Only dates in May and June 2024 are supported."""
    n = 15 + offset
    return f"2024-05-{n:02d}" if n <= 31 else f"2024-06-{n - 31:02d}"


def person(rng: Random) -> Data:
    return {"first_name": rng.choice(FIRST_NAMES), "last_name": rng.choice(LAST_NAMES), "dob": rng.choice(BIRTHDAYS)}


def payment_methods(rng: Random, kinds: tuple[str, ...]) -> dict[str, Data]:
    """Return stored payment methods of the given kinds (``credit_card``, ``gift_card``, ``certificate``), in order."""
    methods: dict[str, Data] = {}
    for kind, number in zip(kinds, rng.sample(NUMBERS, k=len(kinds)), strict=True):
        key = f"{kind}_{number}"
        if kind == "credit_card":
            taken = {m["last_four"] for m in methods.values() if "last_four" in m}
            four = rng.choice([str(n) for n in USER_NUMBERS if str(n) not in taken])
            brand = rng.choice(("visa", "mastercard"))
            methods[key] = {"source": kind, "id": key, "brand": brand, "last_four": four}
        else:
            methods[key] = {"source": kind, "id": key, "amount": 1500 if kind == "gift_card" else 100}
    return methods


def user(rng: Random, membership: str, kinds: tuple[str, ...]) -> Data:
    """Return a customer with stored payment methods of the given kinds and without reservations."""
    me = person(rng)
    name = f"{me['first_name']}_{me['last_name']}".lower()
    city, state, code = rng.choice(STATES)
    return {
        "user_id": f"{name}_{rng.choice(USER_NUMBERS)}",
        "name": {"first_name": me["first_name"], "last_name": me["last_name"]},
        "address": {
            "address1": rng.choice(STREETS), "address2": None, "city": city, "country": "USA", "state": state,
            "zip": code,
        },
        "email": f"{name}@example.com",
        "dob": me["dob"],
        "payment_methods": payment_methods(rng, kinds),
        "saved_passengers": [],
        "membership": membership,
        "reservations": [],
    }  # fmt: skip


def flight(rng: Random, number: str, origin: str, destination: str, hour: int) -> Data:
    """Return a daily flight of two or three hours, without dates."""
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": f"{hour:02d}:00:00",
        "scheduled_arrival_time_est": f"{hour + rng.choice((2, 3)):02d}:00:00",
        "dates": {},
    }


def available(rng: Random, economy: int | None = None, business: int | None = None, seats: int = 9) -> Data:
    """Return the data of a flight for a date on which it can be booked.

    Business costs more than economy, and basic economy costs less. If a customer compares flights, pass different
    prices for both cabins, so that one flight is the cheapest.

    Args:
        economy: Price in economy, one of `FARES`. By default, it is drawn at random.
        business: Price in business. By default, it is drawn at random.
        seats: Number of available seats in each cabin.
    """
    at = FARES.index(economy) if economy is not None else rng.randrange(12, 40)
    return {
        "status": "available",
        "available_seats": {"basic_economy": seats, "economy": seats, "business": seats},
        "prices": {
            "basic_economy": FARES[at - rng.randrange(1, 10)],
            "economy": FARES[at],
            "business": business or FARES[at + rng.randrange(20, 38)],
        },
    }


def reservation(
    rng: Random, code: str, owner: Data, legs: list[tuple[Data, str]], *, cabin: str, created: str, insured: bool,
    travellers: int = 1, paid_with: str | None = None,
) -> Data:  # fmt: skip
    """Return a new reservation of `owner`, and add its code to the owner's profile.

    Args:
        legs: Pairs of a flight and a date.
        paid_with: Id of the payment method; the owner's first method by default.
    """
    passengers = [{**owner["name"], "dob": owner["dob"]}] + [person(rng) for _ in range(travellers - 1)]
    flights = [
        {
            "flight_number": f["flight_number"], "origin": f["origin"], "destination": f["destination"], "date": on,
            "price": _fare(rng, f["dates"].get(on, {}), cabin),
        }
        for f, on in legs
    ]  # fmt: skip
    price = sum(f["price"] for f in flights) * travellers + 30 * insured * travellers
    origin = legs[0][0]["origin"]
    back = legs[-1][0]["destination"] == origin
    owner["reservations"].append(code)
    return {
        "reservation_id": code,
        "user_id": owner["user_id"],
        "origin": origin,
        "destination": legs[0][0]["destination"] if back else legs[-1][0]["destination"],
        "flight_type": "round_trip" if back else "one_way",
        "cabin": cabin,
        "flights": flights,
        "passengers": passengers,
        "payment_history": [{"payment_id": paid_with or next(iter(owner["payment_methods"])), "amount": price}],
        "created_at": created,
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "yes" if insured else "no",
        "status": None,
    }


def _fare(rng: Random, on: Data, cabin: str) -> int:
    """Return the price of a seat, which is the current price if the flight can be booked and otherwise random."""
    return int(on["prices"][cabin]) if "prices" in on else rng.choice(FARES[6:50])
