"""``python -m overlay``: systems of other packages are registered first, then ``overlay.cli`` runs the command."""

import os
import sys


def main(argv: list[str]) -> int:
    """Run one command; its exit code."""
    if os.environ.get("WAXWING_SYSTEMS"):  # else a broker in a process of its own would carry the registry
        from overlay.core.errors import InvalidSetting
        from overlay.plugins import register_systems

        try:
            register_systems(os.environ)
        except InvalidSetting as error:
            sys.stderr.write(f"overlay: {error}\n")
            return 2
    from overlay.cli import commands

    return commands.main(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
