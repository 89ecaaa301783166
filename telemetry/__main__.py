"""``python -m telemetry``: ``telemetry.cli.commands``, or what is missing to run it."""

import sys
from collections.abc import Sequence

STOPPED = 130
"""The exit code after Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. Ctrl-C while it begins is one, too."""
    try:
        from telemetry.cli import commands

        return commands.main(arguments)
    except KeyboardInterrupt:
        return STOPPED
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith(("overlay", "telemetry")):
            raise
        sys.exit(f"telemetry: the package {error.name} is missing. `make` installs it for .venv/bin/python")


if __name__ == "__main__":
    sys.exit(main())
