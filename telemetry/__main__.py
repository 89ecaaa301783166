"""``python -m telemetry``: ``telemetry.cli.commands``, or what is missing to run it."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code."""
    try:
        from telemetry.cli import commands
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith(("overlay", "telemetry")):
            raise
        sys.exit(f"telemetry: the package {error.name} is missing. `make` installs it for .venv/bin/python")
    return commands.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
