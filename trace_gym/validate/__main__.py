"""Print the properties as the table of ``docs/validate.md``."""

from trace_gym.validate import markdown

print(markdown(), end="")
