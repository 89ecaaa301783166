"""What people and programs run against a network of one system: servers, single exchanges, a client library.

A system's cores are pure; its programs open sockets, and have a folder here under the system's name. ``overlay.cli``
dispatches to them:

    python -m overlay context-broker get 127.0.0.1:4000 --type room --id r1 --scope climate

Commands of the first system need no name: ``python -m overlay get …``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pkgutil import resolve_name
from typing import NamedTuple

from overlay.core.errors import InvalidSetting


class Command(NamedTuple):
    """One command of a system."""

    help: str
    """A line of the usage."""
    load: Callable[[], Callable[[list[str]], int]]
    """Imports the command; what it returns takes the arguments and returns the exit code."""


def main_of(module: str, *first: str) -> Callable[[], Callable[[list[str]], int]]:
    """What imports ``module`` and returns its ``main``, with ``first`` before the arguments."""
    return lambda: partial(import_module(module).main, *first)


def commands_in(module: str, helps: Mapping[str, str]) -> dict[str, Command]:
    """Those that a module has together: its ``main`` takes the name of one before the arguments."""
    return {name: Command(help, main_of(module, name)) for name, help in helps.items()}


PROGRAMS: dict[str, str] = {
    "context-broker": "overlay.programs.context_broker:COMMANDS",
    "contextnet": "overlay.programs.contextnet:COMMANDS",
    "federation": "overlay.programs.federation:COMMANDS",
    "radiator": "overlay.programs.radiator:COMMANDS",
    "silbops": "overlay.programs.silbops:COMMANDS",
}
"""By name of the system, ``MODULE:NAME`` of its commands by name; the first system is the first. Those of systems from
other packages (``System.programs``) are added when a process registers these."""


def commands_of(system: str) -> Mapping[str, Command]:
    """Of a system in ``PROGRAMS``. Imports names and help texts only: a broker's process stays small. Raises
    ``InvalidSetting``."""
    try:
        found: Mapping[str, Command] = resolve_name(PROGRAMS[system])
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidSetting(f"{system}.programs", f"{PROGRAMS[system]!r} cannot be imported: {error}") from None
    return found


def find(arguments: Sequence[str]) -> tuple[Command | None, list[str]]:
    """The command that ``arguments`` begin with, with or without the system's name, and the arguments after it."""
    system, rest = next(iter(PROGRAMS)), list(arguments)
    if rest and rest[0] in PROGRAMS:
        system, rest = rest[0], rest[1:]
    return commands_of(system).get(rest[0]) if rest else None, rest[1:]
