"""A hostile module: a small healthy world with something written into it that does not belong there."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

NAME = "hostile"
SECRET = "sk-sentinel-0123456789"
"""Stands in the environment of whoever runs the sandbox, under `VARIABLE`."""
VARIABLE = "HOSTILE_TEST_API_KEY"

WORLD = '''\
@FUTURE@
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

@IMPORTS@
from trace_gym.world import Call, Check, Random, Say, ToolError, World, tool

@TOP@


@dataclass
class Hostile(@BASES@):
    """You keep a drawer. Open it when asked, and say what lies in it."""

    id = "hostile"
    capability = "look_before_speaking"
    levels = @LEVELS@
    max_turns = 6
    thing: str
    open: bool = False
@BODY@

    @classmethod
    def generate(cls, rng: Random, level: int) -> Self:
@GENERATE@
        return cls(rng.choice(("key", "coin", "stamp", "ring")) + str(rng.randrange(1000)))

    def opening(self) -> str:
@OPENING@
        return "What lies in the drawer?"

    def reply(self, text: str) -> str | None:
@REPLY@
        return None if self.thing in text else "What lies in it?"

    @tool(kind="write")
    def look(self@ARGUMENT@) -> str:
        """Open the drawer."""
@TOOL@
        self.open = True
        return f"a {self.thing}"

    def verify(self, start: Self, said: list[str]) -> Iterator[Check]:
@VERIFY@
        yield Check.goal("the drawer is open", self.open)
        yield Check.goal("the thing was named", any(self.thing in text for text in said))

    def oracle(self) -> Iterator[Call | Say]:
@ORACLE@
        yield Call("look", {})
        yield Say(f"There is a {self.thing}.")

    def ablated(self) -> Iterator[Call | Say]:
@ABLATED@
        yield Say("There is nothing in it.")
'''
"""Every place where something may be written."""
DEFAULTS = {"bases": "World", "levels": "range(1)"}
INDENTED = {"body": 4, **dict.fromkeys(("generate", "opening", "reply", "tool", "verify", "oracle", "ablated"), 8)}


@dataclass(frozen=True)
class Case:
    """One attempt to get out, to cheat, or to hang."""

    name: str
    tries: str
    """Description of the attempt in one sentence."""
    rule: str
    """The rule of the static gate that stops it; empty where only running it shows."""
    sandbox: str
    """Result without the gate: a word of the finding, or `HARMLESS`; empty if the module is not run."""
    places: tuple[tuple[str, str], ...]
    file: str = ""
    """File that contains the attempt."""

    def text(self, outside: Path | str = "/nowhere", port: int = 9) -> str:
        """The module; `outside` is a folder that it must not touch, `port` one that it must not reach."""
        made = WORLD
        given = dict(self.places)
        for place in ("future", "imports", "top", "bases", "levels", "argument", *INDENTED):
            code = textwrap.dedent(given.get(place, DEFAULTS.get(place, ""))).strip("\n")
            made = made.replace(f"@{place.upper()}@", textwrap.indent(code, " " * INDENTED.get(place, 0)))
        for word, value in {"OUTSIDE": outside, "PORT": port, "VARIABLE": VARIABLE}.items():
            made = made.replace(f"<{word}>", str(value))
        return made


HARMLESS = "-"
"""It may pass or not; nothing outside is touched."""
CASES: dict[str, Case] = {}


def case(name: str, tries: str, rule: str = "", sandbox: str = "", **places: str) -> None:
    """Add one to `CASES`."""
    assert name not in CASES, name
    file = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]
    CASES[name] = Case(name, tries, rule, sandbox, tuple(places.items()), file)
