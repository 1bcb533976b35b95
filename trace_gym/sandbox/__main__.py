"""Command that prints the tables of lint rules and sandbox layers for ``docs/explanation/sandbox.md``."""

from trace_gym.sandbox import rules_table
from trace_gym.sandbox.layer_list import layers_table

print(rules_table(), layers_table(), sep="\n", end="")
