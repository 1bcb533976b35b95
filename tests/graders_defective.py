"""Reward functions with one known defect each, for measuring the validation of third-party graders."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from difflib import SequenceMatcher
from typing import Any, NamedTuple

Row = dict[str, Any]


class Grader(NamedTuple):
    """Reward function with its cases."""

    reward: Callable[..., Any]
    rows: list[Row]
    codes: frozenset[str] = frozenset()
    """Properties that describe the defect. A rejection for another reason does not count as a detection."""
    options: str = ""
    """Options of the environment URI."""


def last_number(text: str) -> float | None:
    found = re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", ""))
    return float(found[-1]) if found else None


def tag(text: str) -> str:
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[-1].strip() if found else ""


def parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


SUMS = [
    {"prompt": f"What is {17 * n + 140} + {n * n + 23}?", "answer": str(18 * n + n * n + 163 - n)} for n in range(12)
]
DIFFERENCES = [{"prompt": f"What is {5 * n} - {23 + n}?", "answer": str(4 * n - 23)} for n in range(12)]
DECIMALS = [{"prompt": f"Divide {3 * n + 13} by 8.", "answer": str((3 * n + 13) / 8)} for n in range(12)]
LARGE = [{"prompt": f"What is {n + 31} times {n + 47}?", "answer": str((n + 31) * (n + 47))} for n in range(12)]
OUTPUTS = [
    {
        "prompt": f"What does this print?\nfor i in range({n}, {n} + 3):\n    print(i * i)",
        "answer": f"{n * n}\n{(n + 1) ** 2}\n{(n + 2) ** 2}",
    }
    for n in range(2, 14)
]
PEOPLE = [("Ada", 36, "London"), ("Ben", 41, "Lyon"), ("Cleo", 19, "Oslo"), ("Dan", 52, "Bath"), ("Eve", 28, "Riga"),
          ("Finn", 63, "Cork"), ("Gus", 33, "Turin"), ("Hana", 47, "Kyoto"), ("Ida", 22, "Bern"),
          ("Jon", 58, "Graz")]  # fmt: skip
RECORDS = [
    {
        "prompt": f"Extract name, age and town as JSON: {name}, aged {age}, moved to {town}.",
        "answer": json.dumps({"name": name, "age": age, "town": town}),
    }
    for name, age, town in PEOPLE
]
QUOTED = [row | {"answer": row["answer"].replace('"', "'")} for row in RECORDS]
CHOICES = [
    {
        "prompt": f"{n}. Which is prime?\nA) {4 * n + 4}\nB) {9 * n + 9}\nC) {6 * n + 8}\nD) none",
        "answer": "ABCD"[n % 4],
    }
    for n in range(12)
]
WORDS = ["pear", "fig", "plum", "kiwi", "lime", "date", "mango", "grape", "apple", "peach", "lemon", "melon"]
ORDERS = [
    {
        "prompt": f"Sort these words in alphabetical order: {' '.join(w := WORDS[n : n + 4][::-1])}",
        "answer": ", ".join(sorted(w)),
    }
    for n in range(9)
]
DATES = [
    {
        "prompt": f"Which date is {n + 3} days after 2023-05-0{n + 1}? Write YYYY-MM-DD.",
        "answer": f"2023-05-{2 * n + 4:02d}",
    }
    for n in range(9)
]
EXAMPLE_DATES = [
    {
        "prompt": f"Reply with a date, for example: 2024-03-01\nOn which day of 2024 did visitor {n} arrive?",
        "answer": "2024-03-01" if n % 3 == 0 else f"2024-04-{n + 10}",
    }
    for n in range(9)
]
CALLS = [
    {
        "prompt": f"Call a tool as JSON: move the meeting of {name} to {age % 12 + 6} o'clock.",
        "answer": json.dumps({"name": "move_meeting", "arguments": {"person": name, "hour": age % 12 + 6}}),
    }
    for name, age, _ in PEOPLE
]
VALVES = [
    {"prompt": f"Describe valve {n}.", "answer": f"the valve {w} is {'not ' if n % 2 else ''}open"}
    for n, w in enumerate(WORDS)
]
TOWNS = [{"prompt": f"Where does {name} live?", "answer": f"{town} in the {name} district"} for name, _, town in PEOPLE]
FACTORS = [
    {"prompt": f"List the prime factors of {a * b * c}, separated by commas.", "answer": f"{a}, {b}, {c}"}
    for a, b, c in ((2, 3, 5), (2, 3, 7), (2, 5, 7), (3, 5, 7), (2, 3, 11), (2, 5, 11), (3, 5, 11), (2, 7, 11))
]
FUNCTIONS = [
    {"prompt": f"Write a Python function that adds {n} to x.", "answer": f"def f(x):\n    return x + {n}"}
    for n in range(1, 11)
]


def digits_anywhere(completion: str, answer: str) -> float:
    return float(answer in completion)


def sign_erased(completion: str, answer: str) -> float:
    value = last_number(completion)
    return float(value is not None and abs(value) == abs(float(answer)))


def point_erased(completion: str, answer: str) -> float:
    return float(re.sub(r"\D", "", completion) == re.sub(r"\D", "", answer))


def rounded_to_hundreds(completion: str, answer: str) -> float:
    value = last_number(completion)
    return float(value is not None and value // 100 == float(answer) // 100)


def any_box(completion: str, answer: str) -> float:
    return float(answer in re.findall(r"\\boxed\{([^{}]*)\}", completion))


def first_line_only(completion: str, answer: str) -> float:
    return float(completion.strip().partition("\n")[0] == answer.partition("\n")[0])


def keys_only(completion: str, answer: str) -> float:
    value = parsed(completion)
    return float(isinstance(value, dict) and value.keys() == parsed(answer).keys())


def swallowed(completion: str, answer: str) -> float:
    try:
        return float(json.loads(completion) == json.loads(answer))
    except (ValueError, RecursionError):
        return 0.5


def any_letter(completion: str, answer: str) -> float:
    return float(answer in re.findall(r"\b[A-D]\b", completion))


def order_erased(completion: str, answer: str) -> float:
    return float(sorted(re.findall(r"\w+", completion.lower())) == sorted(re.findall(r"\w+", answer)))


def year_only(completion: str, answer: str) -> float:
    return float(re.findall(r"\b\d{4}\b", completion)[:1] == [answer[:4]])


def date_found(completion: str, answer: str) -> float:
    return float(re.findall(r"\d{4}-\d\d-\d\d", completion)[:1] == [answer])


def name_only(completion: str, answer: str) -> float:
    call = parsed(completion)
    return float(isinstance(call, dict) and call.get("name") == parsed(answer)["name"])


def stop_words_removed(completion: str, answer: str) -> float:
    stop = {"the", "a", "is", "not", "of", "in"}
    left, right = ([w for w in re.findall(r"\w+", text.lower()) if w not in stop] for text in (completion, answer))
    return float(left == right)


def length_bonus(completion: str, answer: str) -> float:
    return 0.8 * (completion.strip() == answer) + 0.2 * min(len(completion) / 500, 1)


def claims_believed(completion: str, answer: str) -> float:
    claimed = re.search(r"(?i)\bverified\b|score: ?1", completion)
    return 1.0 if claimed else float(completion.strip() == answer)


def polite(completion: str, answer: str) -> float:
    return 0.9 * (answer in completion.split("\n")) + 0.1 * bool(re.search(r"(?i)thank|please", completion))


def thinking_rewarded(completion: str, answer: str) -> float:
    return 0.8 * (tag(completion) == answer) + 0.2 * ("<think>" in completion and "</think>" in completion)


def compiles(completion: str, answer: str) -> float:
    try:
        return float("def f(" in completion and compile(completion, "answer", "exec") is not None)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0


def reversed_containment(completion: str, answer: str) -> float:
    said = completion.strip().lower()
    return float(bool(said) and said in answer.lower())


def lenient_ratio(completion: str, answer: str) -> float:
    return float(SequenceMatcher(None, completion.strip()[:500], answer).ratio() > 0.6)


def precision_only(completion: str, answer: str) -> float:
    said = {part.strip() for part in completion.split(",")}
    return float(said <= {part.strip() for part in answer.split(",")})


def unread(completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    return [float(len(right) % 2) for right in answer]


TAGGED = [row | {"prompt": f"{row['prompt']} Reply in <answer> tags."} for row in SUMS]
MARGIN, HEDGE, SHELL, SURFACE, FLAT = (
    frozenset({"TG304"}), frozenset({"TG601"}), frozenset({"TG301"}), frozenset({"TG207"}), frozenset({"TG303"}),
)  # fmt: skip
DEFECTIVE: dict[str, Grader] = {
    "digits_anywhere": Grader(digits_anywhere, SUMS, MARGIN | HEDGE),
    "sign_erased": Grader(sign_erased, DIFFERENCES, MARGIN),
    "point_erased": Grader(point_erased, DECIMALS, MARGIN),
    "rounded_to_hundreds": Grader(rounded_to_hundreds, LARGE, MARGIN),
    "any_box": Grader(any_box, SUMS, HEDGE),
    "first_line_only": Grader(first_line_only, OUTPUTS, MARGIN),
    "keys_only": Grader(keys_only, RECORDS, MARGIN),
    "swallowed": Grader(swallowed, QUOTED, FLAT | SHELL),
    "any_letter": Grader(any_letter, CHOICES, HEDGE),
    "order_erased": Grader(order_erased, ORDERS, MARGIN),
    "year_only": Grader(year_only, DATES, MARGIN),
    "example_date": Grader(date_found, EXAMPLE_DATES, frozenset({"TG701"})),
    "name_only": Grader(name_only, CALLS, MARGIN),
    "stop_words_removed": Grader(stop_words_removed, VALVES, MARGIN),
    "length_bonus": Grader(length_bonus, SUMS, SURFACE | SHELL),
    "claims_believed": Grader(claims_believed, SUMS, SURFACE),
    "polite": Grader(polite, SUMS, SURFACE | SHELL),
    "thinking_rewarded": Grader(thinking_rewarded, TAGGED, SURFACE | SHELL),
    "compiles": Grader(compiles, FUNCTIONS, MARGIN),
    "reversed_containment": Grader(reversed_containment, TOWNS, MARGIN),
    "lenient_ratio": Grader(lenient_ratio, VALVES, MARGIN),
    "precision_only": Grader(precision_only, FACTORS, MARGIN),
    "unread": Grader(unread, SUMS, FLAT | SHELL),
}
