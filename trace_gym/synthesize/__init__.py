"""From capabilities to environments: spec, write, validate, admit."""
