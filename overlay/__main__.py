"""``python -m overlay``: the door to both drivers, which know nothing of each other; the commands are in
``overlay.cli``.
"""

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
    if argv[:1] == ["replay"]:
        from overlay.cli import replay

        return replay.main(argv[1:])
    if argv[:1] == ["simulate"]:
        from overlay.cli import simulate

        return simulate.main(argv[1:])
    from overlay.cli import commands

    return commands.main(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
