"""Adapters that make environments usable from other libraries, such as Gymnasium, TRL and OpenEnv.

Each adapter is a thin layer over `trace_gym.episode.Episode`.
"""
