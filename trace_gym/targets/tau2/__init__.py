"""The tau2-bench airline desk: interface, policy engine, base world, results reader.

Names, types and shapes are facts of sierra-research/tau2-bench (MIT); every wording is ours.
"""
