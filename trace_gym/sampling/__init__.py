"""Sampling of tokens: truncated distributions, and the client of vLLM servers with its adapters and its answers."""
