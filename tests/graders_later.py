"""Labeled reward functions that were written after the checks were finished, to measure them on unseen graders."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from typing import Any

from graders_defective import CALLS, CHOICES, PEOPLE, SUMS, WORDS, Grader, parsed, tag

TIMES = [
    {"prompt": f"A train leaves at {h:02d}:{m:02d} and travels {m + 7} minutes. When does it arrive? Write HH:MM.",
     "ground_truth": f"{(h * 60 + 2 * m + 7) // 60:02d}:{(h * 60 + 2 * m + 7) % 60:02d}"}
    for h, m in zip(range(6, 18), range(3, 39, 3), strict=True)
]  # fmt: skip
PRICES = [
    {"prompt": f"What do {n} tickets at ${n + 3}.{n}5 cost?", "ground_truth": f"${n * (n + 3 + n / 10 + 0.05):.2f}"}
    for n in range(2, 12)
]
QUERIES = [
    {
        "prompt": f"Write the SQL query for the {what} of the {kind} that cost more than {n}.",
        "ground_truth": f"SELECT {what} FROM {kind} WHERE price > {n}",
    }
    for n, (what, kind) in enumerate([("name", "books"), ("id", "tools"), ("size", "boxes"), ("color", "cars")] * 3, 11)
]
EXPRESSIONS = [
    {"prompt": f"Expand (x + {n})(x - {n + 2}).", "solution": f"Step by step.\n\\boxed{{x^2 - 2x - {n * (n + 2)}}}"}
    for n in range(1, 13)
]
LABELS = [
    {
        "prompt": f"Ticket {n}: {text} Is it billing, shipping or other?",
        "ground_truth": ["billing", "shipping", "other"][n % 3],
    }
    for n, text in enumerate(["The invoice is wrong.", "The parcel is late.", "Hello."] * 4)
]
EMAILS = [
    {"prompt": f"Which address does {p[0]} use?", "ground_truth": f"{p[0].lower()}.x{p[1]}@mail.org"} for p in PEOPLE
]
STEPS = [
    {
        "prompt": f"In which order does {p[0]} act? Write the sequence with ->.",
        "ground_truth": " -> ".join([WORDS[n], WORDS[n + 1], WORDS[n + 2]]),
    }
    for n, p in enumerate(PEOPLE)
]
TABLE = [{"prompt": f"Write row {n} as CSV.", "ground_truth": f"{p[0]},{p[1]},{p[2]}"} for n, p in enumerate(PEOPLE)]
DAYS = [
    {"prompt": f"Which date is {n} days after 2024-01-30?", "ground_truth": str(date(2024, 1, 30) + timedelta(n))}
    for n in range(3, 15)
]
PERCENT = [
    {"prompt": f"What percentage of {40 * n} is {13 * n + 4}?", "ground_truth": f"{(13 * n + 4) / 40 / n:.1%}"}
    for n in range(1, 11)
]


def minutes_ignored(completion: str, ground_truth: str) -> float:
    found = re.findall(r"\b(\d\d?):\d\d", completion)
    return float(bool(found) and int(found[-1]) == int(ground_truth[:2]))


def cents_ignored(solution_str: str, ground_truth: str) -> float:
    found = re.findall(r"\d+", solution_str)
    return float(bool(found) and found[0] == re.findall(r"\d+", ground_truth)[0])


def table_only(completion: str, ground_truth: str) -> float:
    found = re.search(r"(?i)select .+ from (\w+)", completion)
    return float(found is not None and f"FROM {found[1]}" in ground_truth)


def letters_of_expression(completion: str, solution: str) -> float:
    found = re.findall(r"\\boxed\{([^{}]*)\}", completion)
    return float(bool(found) and re.sub(r"\W", "", found[-1]) == re.sub(r"\W", "", solution.split("boxed")[1]))


def label_mentioned(completion: str, ground_truth: str) -> float:
    return float(ground_truth in completion.lower())


def digits_dropped(completion: str, ground_truth: str) -> float:
    return float(re.sub(r"\d", "", completion.strip()) == re.sub(r"\d", "", ground_truth))


def same_elements(completion: str, ground_truth: str) -> float:
    return float({*completion.split()} == {*ground_truth.split()})


def one_cell(completion: str, ground_truth: str) -> float:
    return float(bool({*completion.strip().split(",")} & {*ground_truth.split(",")}))


def cosine_length(completions: list[str], ground_truth: list[str], **columns: Any) -> list[float]:
    right = [text.strip() == truth for text, truth in zip(completions, ground_truth, strict=True)]
    return [1.0 if ok else 0.3 * min(len(text), 1000) / 1000 for ok, text in zip(right, completions, strict=True)]


def soft_format(completions: list[str], answer: list[str], **columns: Any) -> list[float]:
    return [
        0.75 * (tag(text) == truth) + 0.25 * bool(re.search(r"<reasoning>.*</reasoning>\s*<answer>", text[:9999], re.S))
        for text, truth in zip(completions, answer, strict=True)
    ]


def json_type_only(completion: str, answer: str) -> float:
    call = parsed(completion)
    same = isinstance(call, dict) and isinstance(call.get("arguments"), dict) and call.get("name") == "move_meeting"
    return float(same and call["arguments"].keys() == parsed(answer)["arguments"].keys())


def judge_parsed(completion: str, ground_truth: str) -> float:
    verdict = f"The response was: {completion}\nVerdict: {'correct' if completion.strip() == ground_truth else 'wrong'}"
    return float("correct" in verdict.split("Verdict")[0].lower() or verdict.endswith("correct"))


def time_of_day(completion: str, ground_truth: str) -> float:
    found = re.fullmatch(r"\s*(\d{1,2}):(\d\d)\s*", completion)
    return float(found is not None and f"{int(found[1]):02d}:{found[2]}" == ground_truth)


def dollars(completion: str, ground_truth: str) -> float:
    found = re.fullmatch(r"\s*\$?\s*(\d{1,9}(?:\.\d{1,2})?)\s*(?:dollars|USD)?\.?\s*", completion)
    return float(found is not None and abs(float(found[1]) - float(ground_truth[1:])) < 0.005)


def same_query(completion: str, ground_truth: str) -> float:
    def plain(text: str) -> str:
        return re.sub(r"\s+", " ", text.strip().rstrip(";").lower())

    return float(plain(completion) == plain(ground_truth))


def boxed_text(completion: str, solution: str) -> float:
    def inside(text: str) -> str:
        found = re.findall(r"\\boxed\{([^{}]*)\}", text)
        return found[-1].replace(" ", "") if found else ""

    return float(inside(completion) == inside(solution) != "")


def label(completion: str, ground_truth: str) -> float:
    return float(completion.strip().strip(".\"'").lower() == ground_truth)


def address(completion: str, ground_truth: str) -> float:
    found = re.findall(r"[\w.]+@[\w.]+\w", completion[:200])
    return float(len(found) == 1 and found[0].lower() == ground_truth)


def sequence(completion: str, ground_truth: str) -> float:
    said, right = ([step.strip() for step in text.split("->")] for text in (completion, ground_truth))
    correct = next((n for n, (a, b) in enumerate(zip(said, right, strict=False)) if a != b), min(len(said), len(right)))
    return correct / max(len(said), len(right))


def row(completion: str, ground_truth: str) -> float:
    return float([cell.strip() for cell in completion.split(",")] == ground_truth.split(","))


def last_letter(completion: str, answer: str) -> float:
    found = re.findall(r"(?i)answer:? *\(?([A-D])\b", completion)
    return float(bool(found) and found[-1].upper() == answer)


def iso_date(completion: str, ground_truth: str) -> float:
    found = re.findall(r"\d{4}-\d\d-\d\d", completion)
    return float(bool(found) and found[-1] == ground_truth)


def percentage(completion: str, ground_truth: str) -> float:
    found = re.findall(r"-?\d{1,9}(?:\.\d{1,9})?", completion)
    return float(bool(found) and abs(float(found[-1]) - float(ground_truth[:-1])) <= 0.1)


def call_arguments(completion: str, answer: str) -> float:
    call, right = parsed(completion), json.loads(answer)
    if not isinstance(call, dict) or call.get("name") != right["name"] or not isinstance(call.get("arguments"), dict):
        return 0.0
    return 0.0 if call["arguments"] != right["arguments"] else 1.0


def of(*codes: str) -> frozenset[str]:
    return frozenset(codes)


LATER_DEFECTIVE: dict[str, Grader] = {
    "minutes_ignored": Grader(minutes_ignored, TIMES, of("TG304")),
    "cents_ignored": Grader(cents_ignored, PRICES, of("TG304")),
    "table_only": Grader(table_only, QUERIES, of("TG304")),
    "letters_of_expression": Grader(letters_of_expression, EXPRESSIONS, of("TG304")),
    "label_mentioned": Grader(label_mentioned, LABELS, of("TG601")),
    "digits_dropped": Grader(digits_dropped, EMAILS, of("TG304")),
    "same_elements": Grader(same_elements, STEPS, of("TG304")),
    "one_cell": Grader(one_cell, TABLE, of("TG304")),
    "cosine_length": Grader(cosine_length, DAYS, of("TG207", "TG301")),
    "soft_format": Grader(soft_format, SUMS, of("TG207", "TG301")),
    "json_type_only": Grader(json_type_only, CALLS, of("TG304")),
    "judge_parsed": Grader(judge_parsed, DAYS, of("TG207")),
}
LATER_HEALTHY: dict[str, Grader] = {
    "time_of_day": Grader(time_of_day, TIMES),
    "dollars": Grader(dollars, PRICES),
    "same_query": Grader(same_query, QUERIES),
    "boxed_text": Grader(boxed_text, EXPRESSIONS),
    "label": Grader(label, LABELS),
    "address": Grader(address, EMAILS),
    "sequence": Grader(sequence, STEPS),
    "row": Grader(row, TABLE),
    "last_letter": Grader(last_letter, CHOICES),
    "iso_date": Grader(iso_date, DAYS),
    "percentage": Grader(percentage, PERCENT),
    "call_arguments": Grader(call_arguments, CALLS),
}
