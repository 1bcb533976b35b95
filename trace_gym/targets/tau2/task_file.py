"""Reader of tau2 task files, such as ``data/tau2/domains/airline/tasks.json``, with their databases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

from trace_gym.errors import ConfigError, ReadError
from trace_gym.nested import ids_and_scalars
from trace_gym.parsing import read_json
from trace_gym.targets.task_files import Alternative, Task, TaskFile
from trace_gym.targets.tau2 import task_amounts, task_choices, task_references, task_rules
from trace_gym.targets.tau2.airline import AirlineDesk
from trace_gym.targets.tau2.generic import Data
from trace_gym.targets.tau2.retail import RetailDesk
from trace_gym.targets.tau2.retail_records import LATER
from trace_gym.targets.tau2.task_people import customer_of, own_records
from trace_gym.types import Call
from trace_gym.world import World

TASKS = "Expected a tau2 task file: a JSON list of tasks with id, user_scenario and evaluation_criteria"
DATABASE = "Expected a tau2 database: a JSON object with the tables"
INSTRUCTIONS = ("reason_for_call", "known_info", "unknown_info", "task_instructions")
"""Fields of the instructions that the simulated user sees."""
TABLES = {"airline": ("users", "reservations", "flights"), "retail": ("users", "orders", "products")}
WORLDS: Mapping[str, type[AirlineDesk] | type[RetailDesk]] = {"airline": AirlineDesk, "retail": RetailDesk}


def read_task_file(path: Path, domain: str, database: Path | None) -> Tau2Tasks:
    """Read a task file of tau2; see `TaskFileReader`."""
    data = read_json(path, TASKS)
    if not isinstance(data, list) or not data:
        raise ReadError(f"{path} is not a task file of tau2: found {_kind(data)}. {TASKS}")
    tasks = [_task(entry, f"{path}: task {number}") for number, entry in enumerate(data)]
    domain = domain or _domain(data, tasks, path)
    if domain not in WORLDS:
        raise ConfigError(f"{path} has an unknown domain: found {domain!r}, expected {' or '.join(WORLDS)}")
    place = database or path.with_name("db.json")
    if database is None and not place.exists():
        raise ConfigError(
            f"the database of {path} is missing: there is no file {place}. Add ?db=PATH to specify another file"
        )
    tables = _read_database(place, domain)
    try:
        return Tau2Tasks(tasks, domain, tables)
    except (KeyError, TypeError, AttributeError) as error:
        raise ReadError(f"{place} contains an invalid record ({type(error).__name__}: {error}). {DATABASE}") from None


class Tau2Tasks(TaskFile):
    """Tasks of a tau2 domain with their database."""

    free_arguments: ClassVar[frozenset[str]] = frozenset({"summary", "expression", "reason"})

    def __init__(self, tasks: list[Task], domain: str, tables: dict[str, dict[str, Data]]) -> None:
        self.tasks = tasks
        self.domain = domain
        self.tables = tables
        self.interface = WORLDS[domain].interface()
        self._public = [*_public(tables)]
        self._customers = {id(task): customer_of(task, tables) for task in tasks}

    def customer(self, task: Task) -> str:
        """Return the user id of the customer of a task; an empty string if it cannot be determined."""
        return self._customers[id(task)]

    def start(self, task: Task, calls: Sequence[Call]) -> World:
        named = {self.customer(task), *(str(value) for call in calls for _, value in ids_and_scalars(call.arguments))}
        owners = {
            record.get("user_id")
            for table in self.tables.values()
            for key in named & table.keys()
            for record in [table[key]]
        }
        tables: dict[str, Any] = {name: _copied(table, named | owners) for name, table in self.tables.items()}
        return WORLDS[self.domain](customer=self.customer(task), **tables)

    def state(self, world: World) -> Any:
        return {name: vars(world)[name] for name in TABLES[self.domain]}

    def violations(self, task: Task, world: World, call: Call) -> list[str]:
        return task_rules.violations(task, world, call, self.tables)

    def unchanged(self, world: World, call: Call) -> list[str]:
        old, new = call.arguments.get("item_ids", ()), call.arguments.get("new_item_ids", ())
        return [f"item {a} is replaced by itself" for a, b in zip(old, new, strict=False) if a == b]

    def records(self, task: Task) -> list[Any]:
        return [*own_records(self.customer(task), self.tables), *self._public]

    def amounts(self, task: Task, before: World, after: World) -> list[list[float]]:
        return list(task_amounts.groups(self.customer(task), self.state(before), self.state(after)))

    def alternatives(self, task: Task, world: World, call: Call) -> Iterator[Alternative]:
        return task_choices.alternatives(task, world, call)

    def reference_errors(self, task: Task) -> Iterator[tuple[str, str]]:
        return task_references.errors(task, self.customer(task), self.tables)


def _public(tables: dict[str, dict[str, Data]]) -> Iterator[Any]:
    """Yield the data that every agent can look up or know: products, flights by date, and states of the country."""
    yield tables.get("products", {})
    shown = ("flight_number", "origin", "destination")
    flights = tables.get("flights", {}).values()
    yield [{**{name: f[name] for name in shown}, "date": day} for f in flights for day in f["dates"]]
    places = {(user["address"]["state"], user["address"]["country"]) for user in tables["users"].values()}
    yield [{"state": state, "country": country} for state, country in sorted(places)]


def _copied(table: dict[str, Data], keys: set[Any]) -> dict[str, Data]:
    """Return a copy of a table in which only the records with these keys are copied, because calls change no others."""
    return table | {key: deepcopy(table[key]) for key in keys & table.keys()}


def _task(entry: Any, where: str) -> Task:
    """Return a task of a file.

    Raises:
        ReadError: A required field is missing or has another type.
    """
    criteria = _part(entry, "evaluation_criteria", where) or {}
    told = _part(_part(entry, "user_scenario", where), "instructions", where)
    if not isinstance(entry.get("id"), (str, int)):
        raise ReadError(f"{where} has no valid id: found {entry.get('id')!r}, expected a string or a number. {TASKS}")
    if entry.get("initial_state"):
        raise ReadError(f"{where} has an initial_state, which is not supported. Remove the task from the file")
    if isinstance(told, dict):
        told = "\n".join(str(told[name]) for name in INSTRUCTIONS if told.get(name))
    calls = [_call(action, where) for action in _list(criteria, "actions", where)]
    stated = [str(text) for text in _list(criteria, "communicate_info", where)]
    return Task(str(entry["id"]), str(told or ""), tuple(calls), tuple(stated))


def _part(entry: Any, name: str, where: str) -> Any:
    if not isinstance(entry, dict) or name not in entry:
        raise ReadError(f"{where} does not contain the field {name!r}: found {_kind(entry)}. {TASKS}")
    return entry[name]


def _list(criteria: Any, name: str, where: str) -> list[Any]:
    found = criteria.get(name) if isinstance(criteria, dict) else criteria
    if found is not None and not isinstance(found, list):
        raise ReadError(f"{where} has an invalid field {name!r}: found {_kind(found)}, expected a list. {TASKS}")
    return found or []


def _call(action: Any, where: str) -> Call:
    name, arguments = _part(action, "name", where), _part(action, "arguments", where)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ReadError(
            f"{where} has an invalid action: found {action!r:.200}, expected an object with name and arguments. {TASKS}"
        )
    return Call(tool=name, arguments=arguments)


def _domain(data: list[Any], tasks: list[Task], path: Path) -> str:
    """Return the domain named in the instructions, or else the only domain that has all tools of the expected calls."""
    scenarios = [entry["user_scenario"]["instructions"] for entry in data]
    named = {str(told["domain"]) for told in scenarios if isinstance(told, dict) and told.get("domain")}
    if len(named) == 1:
        return named.pop()
    used = {call.tool for task in tasks for call in task.calls}
    fitting = [name for name, world in WORLDS.items() if used and used <= world.interface().kinds.keys()]
    if len(fitting) != 1:
        raise ConfigError(
            f"the domain of the tasks in {path} cannot be determined. Add ?domain={' or ?domain='.join(WORLDS)}"
        )
    return fitting[0]


def _read_database(path: Path, domain: str) -> dict[str, dict[str, Data]]:
    """Return the tables of a database, including the fields that tau2 adds when it loads a record."""
    data = read_json(path, DATABASE)
    tables: dict[str, dict[str, Data]] = {}
    for name in TABLES[domain]:
        table = data.get(name) if isinstance(data, dict) else None
        if not isinstance(table, dict) or not all(isinstance(record, dict) for record in table.values()):
            raise ReadError(
                f"{path} contains no valid table {name!r}: found {_kind(table)}. {DATABASE} {', '.join(TABLES[domain])}"
            )
        added = {"reservations": {"status": None}, "orders": dict.fromkeys(LATER)}.get(name, {})
        tables[name] = {key: {**added, **record} for key, record in table.items()}
    for key, user in tables["users"].items():
        user.setdefault("user_id", key)
    return tables


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
