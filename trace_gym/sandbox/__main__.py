"""Print the rules and the layers as the tables of ``docs/sandbox.md``."""

from trace_gym.sandbox import markdown
from trace_gym.sandbox.layers import layers_markdown

print(markdown(), layers_markdown(), sep="\n", end="")
