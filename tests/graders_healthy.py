"""Reward functions without a defect, of the kinds that a validation is most likely to reject by mistake."""

from __future__ import annotations

import ast
import json
import math
import re
from collections import Counter
from datetime import datetime
from fractions import Fraction
from typing import Any

from graders_defective import (
    CALLS,
    CHOICES,
    DATES,
    DIFFERENCES,
    FACTORS,
    ORDERS,
    OUTPUTS,
    PEOPLE,
    RECORDS,
    SUMS,
    TOWNS,
    VALVES,
    WORDS,
    Grader,
    last_number,
    parsed,
    tag,
)  # fmt: skip

FRACTIONS = [
    {
        "prompt": f"Write {2 * n + 3}/{4 * n + 10} in lowest terms, in a box.",
        "answer": str(Fraction(2 * n + 3, 4 * n + 10)),
    }
    for n in range(12)
]
SPEEDS = [
    {
        "prompt": f"A car drives {37 * n + 50} km in {n + 1} h. Estimate its speed within 5%.",
        "answer": f"{(37 * n + 50) / (n + 1):.1f}",
    }
    for n in range(12)
]
TARGETS = [
    {
        "prompt": f"Use {a}, {b} and {c} once each, with + - *, to make {a * b + c}.",
        "answer": f"{a} * {b} + {c}",
        "target": a * b + c,
    }
    for a, b, c in ((3, 5, 7), (4, 6, 9), (8, 3, 5), (7, 9, 2), (6, 5, 11), (12, 3, 4), (5, 13, 8), (9, 4, 10))
]
CAPITALS = [
    {"prompt": f"What is the capital of {land}?", "answer": town}
    for land, town in (("France", "Paris"), ("Norway", "Oslo"), ("Latvia", "Riga"), ("Peru", "Lima"),
                       ("Cuba", "Havana"), ("the Bahamas", "Nassau"), ("Fiji", "Suva"),
                       ("Mexico", "Mexico City"), ("Kenya", "Nairobi"))
]  # fmt: skip
CHECKS = [
    {"prompt": f"Is {n} divisible by 3? Reply Yes or No.", "answer": "Yes" if n % 3 == 0 else "No"}
    for n in range(20, 32)
]
BOXED = [{"prompt": f"{row['prompt']}\nReply as <answer>LETTER</answer>.", "answer": row["answer"]} for row in CHOICES]
CHAT = [row | {"prompt": [{"role": "user", "content": row["prompt"]}]} for row in SUMS]
FORMATS = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y")


def number(completion: str, answer: str) -> float:
    value = last_number(completion)
    return float(value is not None and math.isclose(value, float(answer), rel_tol=1e-6))


def fraction(completion: str, answer: str) -> float:
    found = re.findall(r"\\boxed\{([^{}]{1,40})\}", completion)
    try:
        return float(len(found) == 1 and Fraction(found[0].replace(" ", "")) == Fraction(answer))
    except (ValueError, ZeroDivisionError):
        return 0.0


def within_five_percent(completion: str, answer: str) -> float:
    value = last_number(completion)
    return float(value is not None and abs(value - float(answer)) <= 0.05 * float(answer))


def one_letter(completion: str, answer: str) -> float:
    found = re.search(r"(?im)^(?:answer:)?\s*\(?([a-d])\)?[.)]?\s*$", completion.strip())
    return float(found is not None and found[1].upper() == answer)


def tagged_letter(completion: str, answer: str) -> float:
    return float(tag(completion) == answer)


def share_of_fields(completion: str, answer: str) -> float:
    value, right = parsed(completion), json.loads(answer)
    if not isinstance(value, dict) or value.keys() - right.keys():
        return 0.0
    return sum(value.get(key) == content for key, content in right.items()) / len(right)


def share_of_positions(completion: str, answer: str) -> float:
    said, right = ([part.strip().lower() for part in text.split(",")] for text in (completion, answer))
    return sum(a == b for a, b in zip(said, right, strict=False)) / max(len(said), len(right))


def any_notation(completion: str, answer: str) -> float:
    for form in FORMATS:
        try:
            return float(f"{datetime.strptime(completion.strip()[:40], form):%Y-%m-%d}" == answer)
        except ValueError:
            continue
    return 0.0


def same_call(completion: str, answer: str) -> float:
    return float(parsed(completion) == json.loads(answer))


def normalized(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in ("a", "an", "the")]


def normalized_match(completion: str, answer: str) -> float:
    return float(normalized(completion) == normalized(answer))


def token_f1(completion: str, answer: str) -> float:
    said, right = Counter(normalized(completion)), Counter(normalized(answer))
    common = (said & right).total()
    return 2 * common / (said.total() + right.total()) if common else 0.0


def same_set(completion: str, answer: str) -> float:
    return float({p.strip() for p in completion.split(",")} == {p.strip() for p in answer.split(",")})


def same_lines(completion: str, answer: str) -> float:
    return float([line.rstrip() for line in completion.strip().splitlines()] == answer.splitlines())


def makes_target(completion: str, answer: str, target: int) -> float:
    text = completion.strip()
    if len(text) > 40 or sorted(re.findall(r"\d+", text)) != sorted(re.findall(r"\d+", answer)):
        return 0.0
    try:
        return float(_value(ast.parse(text, mode="eval").body) == target)
    except (SyntaxError, ValueError, TypeError):
        return 0.0


def _value(node: ast.AST) -> int:
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.BinOp):
        left, right = _value(node.left), _value(node.right)
        match node.op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
    raise ValueError("not allowed")


def penalty(completion: str, answer: str) -> float:
    return 1.0 if completion.strip() == answer else -1.0


def word(completion: str, answer: str) -> float:
    return float(completion.strip().strip(".").lower() == answer.lower())


def edit_similarity(completion: str, answer: str) -> float:
    said = completion.strip()[:200]
    row = list(range(len(answer) + 1))
    for i, a in enumerate(said, 1):
        row, above = [i], row
        for j, b in enumerate(answer, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return 1 - row[-1] / max(len(said), len(answer))


async def conversation(completions: list[list[dict[str, str]]], answer: list[str], **columns: Any) -> list[float]:
    return [float(c[-1]["content"].strip() == right) for c, right in zip(completions, answer, strict=True)]


SENTENCES = [
    {"prompt": f"Repeat the note of {p[0]}.", "answer": f"{p[0]} keeps the {w} in {p[2]}"}
    for p, w in zip(PEOPLE, WORDS, strict=False)
]
HEALTHY: dict[str, Grader] = {
    "number": Grader(number, SUMS),
    "negative_number": Grader(number, DIFFERENCES),
    "fraction": Grader(fraction, FRACTIONS),
    "within_five_percent": Grader(within_five_percent, SPEEDS),
    "one_letter": Grader(one_letter, CHOICES),
    "tagged_letter": Grader(tagged_letter, BOXED),
    "share_of_fields": Grader(share_of_fields, RECORDS),
    "share_of_positions": Grader(share_of_positions, ORDERS),
    "any_notation": Grader(any_notation, DATES),
    "same_call": Grader(same_call, CALLS),
    "normalized_match": Grader(normalized_match, CAPITALS),
    "normalized_sentence": Grader(normalized_match, VALVES),
    "token_f1": Grader(token_f1, TOWNS),
    "same_set": Grader(same_set, FACTORS),
    "same_lines": Grader(same_lines, OUTPUTS),
    "makes_target": Grader(makes_target, TARGETS),
    "penalty": Grader(penalty, SUMS, options="?low=-1"),
    "word": Grader(word, CHECKS),
    "edit_similarity": Grader(edit_similarity, SENTENCES),
    "conversation": Grader(conversation, CHAT),
}
