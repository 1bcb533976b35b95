"""Parts of modules as authors of environments write them; the static gate refuses none of them."""

from __future__ import annotations

HONEST: dict[str, dict[str, str]] = {
    "table_keyed_by_an_id_of_a_parameter": {
        "body": """
def totals(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found[row["id"]] = {"count": 0}
    for entry in found.values():
        entry["count"] += 1
    for key, entry in found.items():
        entry["label"] = key.upper()
    return found
""",
    },
    "rows_grouped_by_a_field_of_a_parameter": {
        "body": """
def grouped(self, rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    groups: dict[str, dict[str, Any]] = {}
    for row in rows:
        group = groups.setdefault(row["city"], {"names": [], "total": 0})
        group["names"].append(row["name"])
        group["total"] += row["price"]
    return {city: sorted(group["names"]) for city, group in groups.items()}
""",
    },
    "index_by_comprehension": {
        "body": """
def index(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
    made = {row["id"]: {"seen": False} for row in rows}
    for row in rows:
        made[row["id"]]["seen"] = True
    made.get("x", {})["seen"] = True
    return made
""",
    },
    "count_by_key": {
        "imports": "from collections import Counter, defaultdict",
        "body": """
def counts(self, rows: list[dict[str, Any]]) -> list[str]:
    seen: dict[str, list[int]] = defaultdict(list)
    total = Counter(row["city"] for row in rows)
    for n, row in enumerate(rows):
        seen[row["city"]].append(n)
        total[row["city"]] += 1
    return [f"{city}: {count}" for city, count in total.most_common(3)]
""",
    },
    "aligned_table": {
        "body": """
def table(self, rows: list[tuple[str, float]]) -> str:
    width = max((len(name) for name, _ in rows), default=0) + 2
    lines = [f"{name:<{width}}{price:>10.2f}" for name, price in rows]
    return "\\n".join([*lines, "-" * (width + 10), "total".ljust(width), "%5.1f %%" % 12.5])
""",
    },
    "price_arithmetic": {
        "top": "CENTS = 100\nSEATS = 6 * 30\nWEEK = 7 * 24 * 60 * 60\nBLANK = ' ' * 40\nGRID = [[0] * 20] * 20",
        "opening": "price = SEATS * CENTS ** 2\nreturn BLANK + str(price * WEEK % 10**9) + '=' * 60",
    },
    "helpers_as_keys": {
        "imports": "from dataclasses import asdict, replace",
        "top": "@dataclass\nclass Part:\n    name: str\n    size: int = 0\n\n\ndef by_size(part: Part) -> int:\n"
        "    return part.size",
        "body": """
parts: list[Part] = field(default_factory=list)
def listing(self) -> list[dict[str, Any]]:
    bigger = [replace(part, size=part.size + 1) for part in self.parts]
    return list(map(asdict, sorted(bigger, key=by_size)))
""",
    },
    "table_of_own_functions": {
        "top": "def polite(name: str) -> str:\n    return f'Dear {name}'\n\n\n"
        "def brief(name: str) -> str:\n    return name\n\n\n"
        "STYLES = {'polite': polite, 'brief': brief}",
        "opening": "return STYLES['polite'](self.thing)",
    },
    "constants_made_by_comprehension": {
        "imports": "from itertools import product",
        "top": "SIZES = ('small', 'large')\nCOLORS = ('red', 'blue')\n"
        "ITEMS = tuple(f'{s} {c}' for s, c in product(SIZES, COLORS))\n"
        "PRICES = {item: 10 * n for n, item in enumerate(ITEMS)}\nPAIRS = list(zip(ITEMS, ITEMS[1:], strict=False))\n"
        "LONGEST = max(ITEMS, key=len)\nREVERSED = list(reversed(SIZES))\nALL = [*(n * 2 for n in range(4))]",
        "opening": "return ', '.join(f'{item} {PRICES[item]}' for item in ITEMS)",
    },
    "optional_list_parameter": {
        "body": """
def found(self, rows: list[str], skip: tuple[str, ...] = (), limit: int | None = None, sep: str = ", ") -> str:
    kept = [row for row in rows if row not in skip]
    kept.sort(key=lambda row: (len(row), row))
    return sep.join(kept[:limit])
""",
    },
    "records_changed_through_a_name": {
        "body": """
bookings: dict[str, dict[str, Any]] = field(default_factory=dict)
def cancel(self, code: str) -> None:
    booking = self.bookings[code]
    booking["status"] = "cancelled"
    for part in booking["parts"]:
        part["refund"] = part["price"] * 2
    first, *others = booking["parts"]
    first["main"] = True
""",
    },
    "dates_as_text": {
        "imports": "from datetime import date, timedelta",
        "body": """
def due(self, start: str, days: int) -> str:
    day = date.fromisoformat(start) + timedelta(days=days)
    return f"{day:%Y-%m-%d} ({day.strftime('%A')}), in {days:02d} days"
""",
    },
    "errors_that_are_caught_by_name": {
        "top": "class SoldOut(ToolError):\n    pass",
        "tool": "try:\n    number = int(self.thing[-1])\nexcept (ValueError, IndexError) as error:\n"
        "    raise ToolError(f'there is no number: {error}') from None\n"
        "try:\n    raise SoldOut('none left')\nexcept SoldOut:\n    number = 0",
    },
    "class_constants": {
        "body": "LIMIT = 3\nFEES = (5, 10, 20)\n\n"
        "def fee(self, n: int) -> int:\n    return self.FEES[min(n, self.LIMIT - 1)] * 2",
    },
    "generator_that_a_method_makes": {
        "imports": "from itertools import count",
        "generate": "numbers = count(100)\nids = [f'r{next(numbers)}' for _ in range(3)]\n"
        "letters = iter('abc')\npairs = dict(zip(letters, ids, strict=True))\nlevel += len(pairs)",
    },
    "state_built_in_steps": {
        "top": "NAMES = ['Ada', 'Bo', 'Cy']",
        "generate": "names = list(NAMES)\nrng.shuffle(names)\nrows = [{'name': name, 'tags': []} for name in names]\n"
        "for row in rows:\n    row['tags'].append('new')\n    row['age'] = rng.randrange(20, 60)\n"
        "oldest = max(rows, key=lambda row: row['age'])\noldest['tags'] = ['oldest', *oldest['tags']]\n"
        "by_name = {row['name']: row for row in rows}\nby_name['Ada']['age'] = 36",
    },
    "match_on_words": {
        "reply": "match text.lower().split():\n    case ['yes', *_]:\n        return 'Good.'\n"
        "    case [first, 'or', second]:\n        return f'{second} rather than {first}'",
    },
    "templates_with_widths": {
        "top": "LINE = '{name:<20} {price:>8.2f}'\nTEXTS = {'hello': 'Hello {name:>5}!'}",
        "opening": "return LINE.format(name=self.thing, price=1.5) + TEXTS['hello'].format(name='x')",
    },
}
"""Places of the world in `hostile.case`, by what the module does."""
