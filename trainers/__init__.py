"""Trainers: one file an algorithm. Importing this package imports nothing heavy."""
