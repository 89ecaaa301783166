"""The work of the supervisor's children: running a server of a deployment, or a fleet of its clients.

Counterparts: ``overlay.runtime.server_process`` and ``overlay.runtime.load_generator``. The load generator and faults
of a system are imported only in the child that needs them, to save memory in servers. Servers are created before the
fork, so that they share that memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from overlay.core.addresses import Address, format_address
from overlay.core.chance import Chance, derive_seed
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND
from overlay.deployment.deployment import RUN, Deployment
from overlay.runtime.link_faults import FaultyShaper, SharedFaults, faulty_directions
from overlay.runtime.operated_faults import ServerFaults
from overlay.runtime.processes import Ready, Work
from overlay.runtime.server_process import MakeShaper, ServerProcess, Wrap, plain_shaper

OPERATED_LOOK_NS = 200 * MILLISECOND
"""A server of a network looks for orders of an operator this often. More often costs processor time for years."""


@dataclass(frozen=True)
class Job:
    """The parameters of one process of a deployment."""

    deployment: Deployment
    addresses: tuple[Address, ...]
    name: str
    zero_ns: int
    journal: Path
    lifeline: int
    faults: SharedFaults | None = None
    """The active faults, if the deployment has any."""
    operated: ServerFaults | None = None
    """Those of this server that an operator begins and ends, if there are any."""

    def server(self, incarnation: int) -> Work:
        """The work of the server ``name``. Its socket is opened here.

        Only runs have journals, because that of a network would grow without limit; its newest traces are kept.
        """
        deployment = self.deployment
        index = deployment.server_names.index(self.name)
        is_journalled = deployment.kind == RUN
        try:
            from overlay.runtime.logs.opening import opener

            process = ServerProcess(
                deployment.system,
                deployment.system.config_of(deployment.setup),
                self.addresses[index],
                index=index,
                servers=self.addresses,
                links=self._link_shapes(index),
                make_shaper=self._make_shaper(index),
                wrap=self._wrap(index),
                open_log=opener(deployment, self.faults),
                seed=derive_seed(deployment.seed, self.name, incarnation),
                journal=self.journal if is_journalled else None,
                traces=None if is_journalled else traces_path(self.journal),
                process=self.name,
                zero_ns=self.zero_ns,
                lifeline_fd=self.lifeline,
                record_mb=deployment.record_mb,
                life=incarnation,
            )
        except Exception as error:  # noqa: BLE001  a bug of one system must not end the supervisor
            return _failing(error)
        return Work(
            lambda on_ready: process.run(lambda address: on_ready(format_address(address))),
            process.stop,
            process.descriptors,
            process.close,
            process.drain,
        )

    def _link_shapes(self, index: int) -> dict[Address, LinkShape]:
        """The shapes of this server's datagrams, for all destinations that can be impaired."""
        links = [link for link in self.deployment.graph.links if index in link.ends]
        shapes = {self.addresses[link.b if link.a == index else link.a]: link.shape() for link in links}
        faulty = faulty_directions(self.deployment, index, self.addresses)
        unclear = {address: shape for address, shape in shapes.items() if not shape.is_clear}
        return dict.fromkeys(faulty, LinkShape()) | unclear

    def _make_shaper(self, index: int) -> MakeShaper:
        shared = self.faults
        if shared is None:
            return plain_shaper
        ways = faulty_directions(self.deployment, index, self.addresses)
        linked = {link.ends for link in self.deployment.graph.links}

        def make(address: Address, shape: LinkShape, chance: Chance) -> Shaper:
            if address not in ways:
                return Shaper(shape, chance)
            way = ways[address]
            return FaultyShaper(shape, chance, way, shared, is_linked=(min(way), max(way)) in linked)

        return make

    def _wrap(self, index: int) -> Wrap | None:
        """Lets the server see the faults of its system of which it can be a target; ``None`` if there are none."""
        if (operated := self.operated) is not None:
            from overlay.runtime.own_faults import FaultedServer

            operated.begin()
            return lambda server, move: FaultedServer(
                server, operated, lambda: operated.moved(move()), OPERATED_LOOK_NS
            )
        if self.faults is None or not any(
            fault.kind and index in fault.servers and not fault.is_of_log for fault in self.faults.faults
        ):
            return None
        from overlay.runtime.own_faults import FaultedServer, Watcher

        watcher = Watcher(self.faults, lambda fault: index in fault.servers and not fault.is_of_log)
        return lambda server, move: FaultedServer(server, watcher, move)

    def fleet(self, start_ns: int) -> Work:
        """The work of the client fleet ``name``, whose first client starts at ``start_ns``."""
        deployment = self.deployment

        def do(on_ready: Ready) -> int:
            from overlay.runtime.load_generator import run_fleet
            from overlay.runtime.logs.opening import opener

            return run_fleet(
                deployment.system,
                deployment.client_plans()[self.name],
                self.addresses,
                deployment.setup,
                start_ns=start_ns,
                zero_ns=self.zero_ns,
                journal=self.journal,
                process=self.name,
                on_ready=lambda: on_ready("ready"),
                lifeline_fd=self.lifeline,
                faults=self.faults,
                open_log=opener(deployment, self.faults),
            )

        return Work(do)


def traces_path(journal: Path) -> Path:
    """The path for traces of a network's broker, in the place of its journal."""
    return journal.parents[1] / "traces" / journal.name


def _failing(error: Exception) -> Work:
    """A child that reports an error of its preparation, as if it had occurred in the child."""

    def do(_: Ready) -> int:
        raise error

    return Work(do)
