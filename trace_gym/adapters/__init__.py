"""Adapters: one module a library, each thin over `trace_gym.episode.Episode`."""
