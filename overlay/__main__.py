"""``python -m overlay``: the door to both drivers, which know nothing of each other.

Brokers, exchanges with them and the host's supervisor are ``overlay.runtime``'s; virtual time is ``overlay.sim``'s.
"""

import sys


def main(argv: list[str]) -> int:
    """Run one command; its exit code."""
    if argv[:1] == ["replay"]:
        from overlay.sim import cli_replay

        return cli_replay.main(argv[1:])
    if argv[:1] == ["simulate"]:
        from overlay import cli_simulate

        return cli_simulate.main(argv[1:])
    from overlay.runtime import cli

    return cli.main(argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
