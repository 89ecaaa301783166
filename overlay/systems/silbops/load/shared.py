"""What the clients of one process share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.silbops.clients.terms import Site, Terms
from overlay.systems.silbops.clients.wires import Wire
from overlay.systems.silbops.load.draws import Draws
from overlay.systems.silbops.names import broker_name
from overlay.systems.silbops.rows import US
from overlay.systems.silbops.workload import Workload


@dataclass(slots=True)
class Shared:
    workload: Workload
    windows: Windows
    servers: Sequence[Address]
    """Brokers by index."""
    terms: Terms
    seed: int
    tally: Tally
    draws: Draws
    make_wire: Callable[[bytes, Chance], Wire]
    """Of a client, by its id."""

    def site(self, broker: int) -> Site:
        return Site(broker_name(broker), self.servers[broker])

    def us(self, now: int) -> int:
        """Microseconds since the zero of the deployment."""
        return (now - self.windows.zero) // US

    def phase(self, at: int) -> str:
        return "measuring" if at >= self.windows.measuring else "warming"


def broker_index(name: str) -> int:
    """-1 if it is no broker's name of a planned network."""
    number = name[1:]
    return int(number) if name[:1] == "b" and number.isascii() and number.isdigit() else -1
