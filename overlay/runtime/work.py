"""What the supervisor's children do: be a server of a deployment, or a fleet of its clients.

Counterparts: ``overlay.runtime.server_process`` and ``overlay.runtime.load_generator``. The load generator is imported
in the child that needs it, so that servers do not carry it; a server is made before the fork, so that servers share
what that takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from overlay.core.addresses import Address, format_address
from overlay.core.chance import Chance, derive_seed
from overlay.core.errors import WaxwingError
from overlay.core.links import LinkShape, Shaper
from overlay.deployment.deployment import RUN, Deployment
from overlay.runtime.link_faults import FaultyShaper, SharedFaults, faulty_directions
from overlay.runtime.processes import Ready, Work
from overlay.runtime.server_process import MakeShaper, ServerProcess, plain_shaper


@dataclass(frozen=True)
class Job:
    """Everything that one process of a deployment needs to know."""

    deployment: Deployment
    addresses: tuple[Address, ...]
    name: str
    zero_ns: int
    journal: Path
    lifeline: int
    faults: SharedFaults | None = None
    """Which there are now, of a deployment that has any."""

    def server(self, incarnation: int) -> Work:
        """Be the server ``name``, whose socket is open from now on.

        Only runs are journalled: a network would grow its journal for ever. Of what its servers trace the newest stays.
        """
        deployment = self.deployment
        index = deployment.server_names.index(self.name)
        is_journalled = deployment.kind == RUN
        try:
            process = ServerProcess(
                deployment.system,
                deployment.system.config_of(deployment.settings, deployment.graph),
                self.addresses[index],
                index=index,
                servers=self.addresses,
                links=self._link_shapes(index),
                make_shaper=self._make_shaper(index),
                seed=derive_seed(deployment.seed, self.name, incarnation),
                journal=self.journal if is_journalled else None,
                traces=None if is_journalled else traces_path(self.journal),
                process=self.name,
                zero_ns=self.zero_ns,
                lifeline_fd=self.lifeline,
                record_mb=deployment.record_mb,
                life=incarnation,
            )
        except (OSError, WaxwingError) as error:
            return _failing(error)
        return Work(
            lambda on_ready: process.run(lambda address: on_ready(format_address(address))),
            process.stop,
            process.descriptors,
            process.close,
        )

    def _link_shapes(self, index: int) -> dict[Address, LinkShape]:
        """What this server's datagrams meet on the way to each server to which it is not always clear."""
        links = [link for link in self.deployment.links if index in link.ends]
        shapes = {self.addresses[link.b if link.a == index else link.a]: link.shape() for link in links}
        faulty = faulty_directions(self.deployment, index, self.addresses)
        unclear = {address: shape for address, shape in shapes.items() if not shape.is_clear}
        return dict.fromkeys(faulty, LinkShape()) | unclear

    def _make_shaper(self, index: int) -> MakeShaper:
        shared = self.faults
        if shared is None:
            return plain_shaper
        ends = faulty_directions(self.deployment, index, self.addresses)

        def make(address: Address, shape: LinkShape, chance: Chance) -> Shaper:
            return FaultyShaper(shape, chance, ends[address], shared) if address in ends else Shaper(shape, chance)

        return make

    def fleet(self, start_ns: int) -> Work:
        """Be the clients of the fleet ``name``, the first of which starts at ``start_ns``."""
        deployment = self.deployment
        assert deployment.workload is not None
        workload = deployment.workload

        def do(on_ready: Ready) -> int:
            from overlay.runtime.load_generator import run_fleet

            return run_fleet(
                deployment.system,
                deployment.client_plans()[self.name],
                self.addresses,
                workload,
                seed=deployment.seed,
                start_ns=start_ns,
                zero_ns=self.zero_ns,
                journal=self.journal,
                process=self.name,
                on_ready=lambda: on_ready("ready"),
                lifeline_fd=self.lifeline,
            )

        return Work(do)


def traces_path(journal: Path) -> Path:
    """Where a broker of a network writes what it traced; next to where it would write its journal."""
    return journal.parents[1] / "traces" / journal.name


def _failing(error: Exception) -> Work:
    """A child that ends with what its preparation ended with, as if that had happened in it."""

    def do(_: Ready) -> int:
        raise error

    return Work(do)
