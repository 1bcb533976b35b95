"""Synthetic tasks, for validating a verifier of skyrl-gym without its data set.

The tasks have the format of skyrl-gym's data preparation scripts. They do not represent the content of the data sets.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from trace_gym.files import cache_folder, replacement
from trace_gym.types import sha256

ITEMS = ("apples", "stamps", "marbles", "books", "tickets", "shells", "coins", "pencils")
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Ola")
TOWNS = ("Bath", "Cork", "Lyon", "Oslo", "Riga")


def gsm8k(seed: int) -> dict[str, Any]:
    """Return an arithmetic word problem with its answer in ``reward_spec.ground_truth``."""
    rng = Random(f"gsm8k/{seed}")
    name, item = rng.choice(NAMES), rng.choice(ITEMS)
    boxes, each, lost = rng.randint(3, 30), rng.randint(4, 40), rng.randint(1, 11)
    story = rng.choice(
        (
            f"{name} has {boxes} boxes with {each} {item} each and gives {lost} {item} away. How many are left?",
            f"How many {item} does {name} have after filling {boxes} bags with {each} each and losing {lost}?",
        )
    )
    question = f'{story} Let\'s think step by step and output the final answer after "####".'
    truth = {"method": "rule", "ground_truth": str(boxes * each - lost)}
    return {"prompt": [{"role": "user", "content": question}], "reward_spec": truth, "extra_info": {"max_turns": 5}}


def aime(seed: int) -> dict[str, Any]:
    """Return an arithmetic word problem in the format of the environment for AIME problems."""
    row = gsm8k(seed)
    question = row["prompt"][0]["content"].partition(" Let's")[0]
    prompt = f"{question} The last line of your response should be of the form Answer: $Answer."
    truth = {"style": "rule", "ground_truth": row["reward_spec"]["ground_truth"]}
    return {"prompt": [{"role": "user", "content": prompt}], "reward_model": truth}


def text2sql(seed: int) -> dict[str, Any]:
    """Return a question about a small table, and the SQL ``script`` that creates the database."""
    rng = Random(f"text2sql/{seed}")
    people = [(name, rng.choice(TOWNS), rng.randint(18, 80)) for name in rng.sample(NAMES, 12)]
    age = rng.randint(25, 45)
    columns, question = rng.choice((("name", "names"), ("name, town", "names and towns")))
    query = f"SELECT {columns} FROM guests WHERE age > {age}"
    values = ", ".join(f"('{name}', '{town}', {years})" for name, town, years in people)
    schema = "CREATE TABLE guests (name TEXT, town TEXT, age INTEGER)"
    prompt = (
        f"Schema: {schema}. Question: list the {question} of the guests older than {age}. Think in <think>...</think>;"
        " try queries in <sql>...</sql>; give the final query in <solution>...</solution>."
    )
    return {
        "prompt": [{"role": "user", "content": prompt}],
        "reward_spec": {"method": "rule", "ground_truth": query},
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
"""Task generators by environment."""


def database_folder() -> Path:
    """Return the folder of the generated databases.

    The path must be the same in every process, because error messages of the environment contain it.
    """
    return cache_folder() / "lent"


def write_database(script: str) -> str:
    """Write a database to the location where skyrl-gym expects Spider databases, and return its id."""
    name = f"guests_{sha256(script)[:12]}"
    path = database_folder() / "spider" / "database" / name / f"{name}.sqlite"
    if not path.is_file():
        with replacement(path) as new, closing(sqlite3.connect(new)) as connection:
            connection.executescript(script)
    return name
