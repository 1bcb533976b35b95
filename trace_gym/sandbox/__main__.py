"""Command that prints the tables of lint rules, importable modules and layers for ``docs/explanation/sandbox.md``."""

from trace_gym.sandbox import rules_table
from trace_gym.sandbox.layer_list import layers_table
from trace_gym.sandbox.module_names import imports_table

print(rules_table(), imports_table(), layers_table(), sep="\n", end="")
