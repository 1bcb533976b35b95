"""Airline and retail targets of tau2-bench: interfaces, policy engines, base worlds and a results reader.

Tool names, types and record shapes follow sierra-research/tau2-bench (MIT). All texts were written for this project.
"""
