"""What the servers of a run or network are called on pages: *Broker 3*, or *Directory 0* if there are several roles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from overlay.core.processes import role_of
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS
from overlay.systems.roles import Title
from telemetry.formatting import sig3, words
from telemetry.summary.processes import Servers
from telemetry.systems.registry import telemetry_of

GLYPHS = "●■◆⬢▲"
"""The shapes of roles and kinds in a drawing. Counterpart: ``SHAPES`` of ``overlay``."""


class ServerNames:
    """The names of all servers, by index."""

    def __init__(self, system: System, servers: Servers, nodes: int) -> None:
        """``nodes`` is the number of nodes of the topology."""
        self._system, self._servers, self._nodes = system, servers, nodes
        self._count = len(servers) or nodes
        self.removed: frozenset[int] = frozenset()
        """Indices that a network no longer has, and does not use again."""

    @classmethod
    def of(cls, configuration: Mapping[str, Any]) -> ServerNames:
        """Of ``{system, topology, settings, workload}``; the workload may be missing."""
        system = SYSTEMS[configuration["system"]]
        return cls(system, Servers.of(configuration, system), configuration["topology"]["brokers"])

    def __len__(self) -> int:
        return self._count

    @property
    def title(self) -> Title:
        """Of any server: the heading of a column."""
        return self._system.server_title

    @property
    def entrance(self) -> Title:
        """Of those through which clients enter."""
        return self._system.entrance_title

    @property
    def is_single(self) -> bool:
        """Whether there is one only, so that a drawing of all shows nothing."""
        return self._count == 1

    @property
    def has_tables(self) -> bool:
        """Whether their counters tell the memory of a table."""
        return bool(self._system.table_gauge)

    @property
    def has_roles(self) -> bool:
        """Whether they differ in more than their number."""
        return len(self._system.role_names) > 1

    @property
    def roles(self) -> tuple[str, ...]:
        return self._system.role_names

    def kind(self, index: int) -> str:
        """What it is among those of its role, as *mobile*; empty: nothing in particular."""
        return self._servers.kinds.get(index, "")

    def look(self, index: int) -> tuple[str, str]:
        """Role and kind, which a drawing shows."""
        return self.role(index), self.kind(index)

    @property
    def looks(self) -> list[tuple[str, str]]:
        """Those of a drawing: all roles, then the kinds that there are."""
        kinds = {self.look(index) for index in self._servers.kinds if index < self._count and index not in self.removed}
        return [*((role, "") for role in self.roles), *sorted(kinds)]

    @property
    def shapes(self) -> list[tuple[str, str]]:
        """For a legend: the shape of each look in the drawing, as a character, and its title."""
        titles = [f"{kind} {self._system.title_of(role).in_text.one}".strip() for role, kind in self.looks]
        return [(GLYPHS[at % len(GLYPHS)], title) for at, title in enumerate(titles)]

    @property
    def all(self) -> list[tuple[int, str]]:
        """Indices and names."""
        return [(index, self.full(index)) for index in range(self._count) if index not in self.removed]

    @property
    def counted(self) -> str:
        """``4 brokers``; ``2 gateways, 1 registry``."""
        return self._counted(index for index in range(self._count) if index not in self.removed)

    @property
    def on_topology(self) -> str:
        """The same, of those that are nodes of the topology."""
        return self._counted(range(min(self._nodes, self._count)))

    def _counted(self, indices: Iterable[int]) -> str:
        counts = Counter(map(self.role, indices))
        titles = {role: self._system.title_of(role).in_text for role in counts}
        return ", ".join(f"{n:,} {titles[role].one if n == 1 else titles[role].many}" for role, n in counts.items())

    def process(self, index: int) -> str:
        """``broker-3``."""
        return self._servers.name(index)

    def role(self, index: int) -> str:
        return role_of(self.process(index))

    def full(self, index: int) -> str:
        """``Broker 3``."""
        role, _, number = self.process(index).rpartition("-")
        return f"{self._system.title_of(role).one} {number}"

    def in_text(self, index: int) -> str:
        """``broker 3``."""
        role, _, number = self.process(index).rpartition("-")
        return f"{self._system.title_of(role).in_text.one} {number}"

    @property
    def has_links(self) -> bool:
        """Whether they are linked by a topology that someone chose."""
        return not self._system.has_fixed_topology

    def short(self, index: int) -> str:
        """In a column headed by ``title``: ``3``; the full name if there are several roles."""
        return self.full(index) if self.has_roles else str(index)

    def counters(self, row: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The rates and gauges of one of them, with titles, of those in its ``row``."""
        shown = telemetry_of({"system": self._system.name}).counters
        rates = [(f"{words(name)} per second", row.get(f"{name}_per_s")) for name in shown.rates]
        gauges = [(words(name), row.get(name)) for name in shown.gauges]
        return [(title, sig3(value)) for title, value in (*rates, *gauges) if value is not None]

    def fill(self, text: str) -> str:
        """``text`` with what they are called for ``{server}`` and ``{servers}``."""
        return self.title.fill(text)

    def for_script(self) -> dict[str, Any]:
        """``{one, titles}``; titles are full names by index, empty if they are ``one`` and the index."""
        titles = [self.full(index) for index in range(self._count)] if self.has_roles else []
        return {"one": self.title.one, "titles": titles}
