"""Command line interface `trace-gym`: one command per stage, each a thin wrapper of a library function."""

import sys

import trace_gym

__all__ = ["main"]


def main() -> None:
    """Run the command line. ``--version`` alone prints the version without importing the commands."""
    if sys.argv[1:] == ["--version"] and _printed(trace_gym.__version__):
        return
    from trace_gym.cli.entry import main as run

    run()


def _printed(text: str) -> bool:
    """Print a line and return whether the output could be written."""
    try:
        print(text, flush=True)
    except OSError:
        return False
    return True
