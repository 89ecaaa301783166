"""The toy system with a second kind of server: a directory, to which no client talks."""

from __future__ import annotations

from dataclasses import replace

from overlay.systems.contract import Role
from tests.systems.echo import Echo


class EchoWithDirectory(Echo):
    name, title = "echo-directory", "Echo with a directory"
    role_names = ("echo", "directory")

    def roles(self, setup):
        return (*super().roles(setup), Role("directory", 1))

    def expected(self, configuration):
        found = super().expected(configuration)
        return replace(found, servers=found.servers + 1, processes=found.processes + 1)


SYSTEM = EchoWithDirectory()
