"""Hostile modules: `CASES` by name, written down in seven files."""

from hostile import contract, escapes, outsiders, reflection, resources, running_code, second_look
from hostile.case import CASES, HARMLESS, NAME, SECRET, VARIABLE, Case

__all__ = ["CASES", "HARMLESS", "NAME", "SECRET", "VARIABLE", "Case"]
FILES = [
    module.__name__.rpartition(".")[2]
    for module in (running_code, reflection, contract, escapes, resources, outsiders, second_look)
]
