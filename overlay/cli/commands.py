"""Dispatches to the commands. Imports only the module of the command that is run.

Exit codes of exchanges: 0 done, 1 not found or refused, 2 wrong usage, 3 no answer in time. A foreground server exits
with 1 when it cannot bind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
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
        sys.stdout.write(usage(list(PROGRAMS)))
        return 0
    if command == "--version":
        sys.stdout.write(f"{__version__}\n")
        return 0
    if command in OWN:
        return _loaded(partial(_own, command))(argv[1:])
    systems = [command] if command in PROGRAMS else list(PROGRAMS)
    if argv[1:2] in (["-h"], ["--help"]) and command in PROGRAMS:
        sys.stdout.write(usage(systems))
        return 0
    found, arguments = find(argv)
    if found is not None:
        return _loaded(found.load)(arguments)
    sys.stderr.write(f"overlay: {_wrong(argv)}\n{usage(systems)}")
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


def usage(systems: Sequence[str]) -> str:
    """What there is of these systems, and of every one if there are several."""
    return "".join(f"{line}\n" for line in _usage(systems))


def _usage(systems: Sequence[str]) -> Iterator[str]:
    system = systems[0] if len(systems) == 1 else ""
    yield f"usage: python -m overlay {system or '[SYSTEM]'} COMMAND ..."
    first = next(iter(PROGRAMS))
    for one in systems:
        yield ""
        yield f"{one}{' (the default system)' if one == first else ''}:"
        yield from (f"  {name:<11} {command.help}" for name, command in commands_of(one).items())
    if not system:
        yield ""
        yield "every system:"
        yield from (f"  {name:<11} {help}" for name, help in OWN.items())
    yield ""
    yield f"For details: python -m overlay {f'{system} ' if system else ''}COMMAND --help"
