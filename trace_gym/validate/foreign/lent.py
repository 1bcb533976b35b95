"""Tasks for environments that come without any: a verifier can be judged before its data set is at hand.

They are in the form that skyrl-gym's own data preparation writes, and say nothing of the data set itself.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from trace_gym.types import sha256

THINGS = ("apples", "stamps", "marbles", "books", "tickets", "shells", "coins", "pencils")
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Ola")
TOWNS = ("Bath", "Cork", "Lyon", "Oslo", "Riga")


def gsm8k(seed: int) -> dict[str, Any]:
    """A sum in words, with its answer as ``reward_spec.ground_truth``."""
    rng = Random(f"gsm8k/{seed}")
    name, thing = rng.choice(NAMES), rng.choice(THINGS)
    boxes, each, lost = rng.randint(3, 30), rng.randint(4, 40), rng.randint(1, 11)
    story = rng.choice(
        (
            f"{name} has {boxes} boxes with {each} {thing} each and gives {lost} {thing} away. How many are left?",
            f"How many {thing} does {name} have after filling {boxes} bags with {each} each and losing {lost}?",
        )
    )
    asked = f'{story} Let\'s think step by step and output the final answer after "####".'
    truth = {"method": "rule", "ground_truth": str(boxes * each - lost)}
    return {"prompt": [{"role": "user", "content": asked}], "reward_spec": truth, "extra_info": {"max_turns": 5}}


def aime(seed: int) -> dict[str, Any]:
    """The same, in the form that the environment of AIME problems asks for."""
    row = gsm8k(seed)
    asked = row["prompt"][0]["content"].partition(" Let's")[0]
    told = f"{asked} The last line of your response should be of the form Answer: $Answer."
    truth = {"style": "rule", "ground_truth": row["reward_spec"]["ground_truth"]}
    return {"prompt": [{"role": "user", "content": told}], "reward_model": truth}


def text2sql(seed: int) -> dict[str, Any]:
    """A question about a small table, and the ``script`` that makes its database."""
    rng = Random(f"text2sql/{seed}")
    people = [(name, rng.choice(TOWNS), rng.randint(18, 80)) for name in rng.sample(NAMES, 12)]
    age = rng.randint(25, 45)
    columns, asked = rng.choice((("name", "names"), ("name, town", "names and towns")))
    gold = f"SELECT {columns} FROM guests WHERE age > {age}"
    values = ", ".join(f"('{name}', '{town}', {years})" for name, town, years in people)
    schema = "CREATE TABLE guests (name TEXT, town TEXT, age INTEGER)"
    told = (
        f"Schema: {schema}. Question: list the {asked} of the guests older than {age}. Think in <think>...</think>; try"
        " queries in <sql>...</sql>; give the final query in <solution>...</solution>."
    )
    return {
        "prompt": [{"role": "user", "content": told}],
        "reward_spec": {"method": "rule", "ground_truth": gold},
        "data": "spider",
        "max_turns": 5,
        "script": f"{schema}; INSERT INTO guests VALUES {values};",
    }


TASKS: dict[str, Callable[[int], dict[str, Any]]] = {
    "gsm8k": gsm8k,
    "gsm8k_multi_turn": gsm8k,
    "aime": aime,
    "text2sql": text2sql,
}
"""Makers of tasks by the environment that takes them."""


def folder() -> Path:
    """Where lent databases lie: the same place in every process, as error messages name it."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "trace_gym" / "lent"


def database(script: str) -> str:
    """Write a database where skyrl-gym looks for one of Spider's, and return its id."""
    name = f"guests_{sha256(script)[:12]}"
    place = folder() / "spider" / "database" / name / f"{name}.sqlite"
    if not place.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f"{os.getpid()}.tmp")
        draft.unlink(missing_ok=True)
        with closing(sqlite3.connect(draft)) as made:
            made.executescript(script)
        os.replace(draft, place)
    return name
