"""The desks of tau2-bench, airline and retail: interfaces, policy engines, base worlds, results reader.

Names, types and shapes are facts of sierra-research/tau2-bench (MIT); every wording is ours.
"""
