"""``python -m overlay``: systems of other packages are registered first, then ``overlay.cli`` runs the command."""

import os
import sys

from overlay.core.errors import InvalidSetting


def main(argv: list[str]) -> int:
    """Run one command; its exit code."""
    from overlay.cli import commands

    try:
        if os.environ.get("WAXWING_SYSTEMS"):  # else a broker in a process of its own would carry the registry
            _register()
        return commands.main(argv)
    except InvalidSetting as error:
        sys.stderr.write(f"overlay: {error}\n")
        return 2


def _register() -> None:
    from overlay.plugins import register_systems
    from overlay.programs import PROGRAMS

    PROGRAMS.update({system.name: system.programs for system in register_systems(os.environ) if system.programs})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
