"""Validation of task files: tasks of a benchmark with the calls that they expect, checked without a model."""
