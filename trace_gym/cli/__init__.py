"""The command line: one verb per stage. Each verb is a thin call of the function of the same name."""

import sys

import trace_gym

__all__ = ["main"]


def main() -> None:
    """Run the command line. ``--version`` alone is answered without the imports of the commands."""
    if sys.argv[1:] == ["--version"] and _printed(trace_gym.__version__):
        return
    from trace_gym.cli.entry import main as run

    run()


def _printed(text: str) -> bool:
    """Print a line; False where the output cannot be written, which the commands report."""
    try:
        print(text, flush=True)
    except OSError:
        return False
    return True
