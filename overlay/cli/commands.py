"""Dispatches to the commands. Imports only the module of the command that is run.

Exit codes of exchanges: 0 done, 1 not found or refused, 2 wrong usage, 3 no answer in time. A foreground server exits
with 1 when it cannot bind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

from overlay import __version__
from overlay.programs import PROGRAMS, commands_of, find

OWN = {
    "supervise": "run the host's supervisor of servers and client fleets",
    "simulate": "run one configuration in virtual time",
    "discover": "list the networks that are announced by DNS-SD",
    "replay": "repeat recorded servers in virtual time and compare byte for byte",
}


def main(argv: list[str]) -> int:
    """Run one command; its exit code."""
    command = argv[0] if argv else ""
    if command in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0
    if command == "--version":
        sys.stdout.write(f"{__version__}\n")
        return 0
    if command in OWN:
        return _loaded(partial(_own, command))(argv[1:])
    found, arguments = find(argv)
    if found is not None:
        return _loaded(found.load)(arguments)
    sys.stderr.write(f"overlay: {_wrong(argv)}\n{usage()}")
    return 2


def _loaded(load: Callable[[], Callable[[list[str]], int]]) -> Callable[[list[str]], int]:
    try:
        return load()
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("overlay"):
            raise
        sys.exit(f"overlay: the package {error.name} is missing. `make` installs it for .venv/bin/python")


def _wrong(argv: list[str]) -> str:
    words = argv[1:] if argv[:1] and argv[0] in PROGRAMS else argv
    return f"{words[0]!r} is not a command" if words else "a command is required"


def _own(command: str) -> Callable[[list[str]], int]:
    if command == "supervise":
        from overlay.runtime import supervisor

        return supervisor.main
    if command == "simulate":
        from overlay.cli import simulate

        return simulate.main
    if command == "discover":
        from overlay.cli import discover

        return discover.main
    from overlay.cli import replay

    return replay.main


def usage() -> str:
    return "".join(f"{line}\n" for line in _usage())


def _usage() -> Iterator[str]:
    yield "usage: python -m overlay [SYSTEM] COMMAND ..."
    first = next(iter(PROGRAMS))
    for system in PROGRAMS:
        yield ""
        yield f"{system}{' (the default system)' if system == first else ''}:"
        yield from (f"  {name:<11} {command.help}" for name, command in commands_of(system).items())
    yield ""
    yield "every system:"
    yield from (f"  {name:<11} {help}" for name, help in OWN.items())
    yield ""
    yield "For details: python -m overlay COMMAND --help"
