"""Command that prints the Markdown table of all validated properties for ``docs/guides/validate.md``."""

from trace_gym.validation import markdown

print(markdown(), end="")
