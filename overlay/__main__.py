"""``python -m overlay``: the door to both drivers, which know nothing of each other.

Brokers, exchanges with them and the host's supervisor are ``overlay.runtime``'s; virtual time is ``overlay.sim``'s.
"""

import sys


def main(argv: list[str]) -> int:
    """Run one command; its exit code."""
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
