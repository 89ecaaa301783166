"""The desired state of one host as a checked JSON document: brokers, links, settings and, for runs, a workload. Pure.

Counterparts: the web writes the document. ``overlay.runtime.supervisor`` executes it with
``overlay.deployment.phases`` (the next phase) and the assembly of its system (joins). A
*run* has a workload and a lease, and ends. A *network* has neither, and stays up until it is stopped.

The epoch is a fencing token: among documents with the same id, the one with the highest epoch is valid, and commands
with a lower epoch are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from overlay.core.engines import ENGINES, LIVE
from overlay.core.errors import InvalidSetting, shown
from overlay.deployment import documents
from overlay.deployment.documents import one_of, require_names, require_object, whole
from overlay.faults.churn import Change
from overlay.faults.faults import Fault
from overlay.load.windows import Schedule
from overlay.systems.contract import Setup, System
from overlay.systems.cores import Plan
from overlay.systems.registry import RECORD, SYSTEMS, check_record_mb
from overlay.systems.roles import Role, server_names
from overlay.topologies import Graph

RUN, NETWORK = "run", "network"
SECRET_BYTES = 32
_SECRET = re.compile("[0-9a-f]{64}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Deployment:
    """A checked document. Its fields are those of the JSON; see ``from_json``."""

    id: str
    kind: str
    epoch: int
    directory: str
    """Absolute path of the directory for journals and the last output of processes."""
    system: System
    setup: Setup
    """Its topology, settings and workload; networks have no workload."""
    lease_s: float | None
    """A run whose lease is not renewed for this long is stopped. Networks have no lease."""
    faults: tuple[Fault, ...] = ()
    """Faults during measuring."""
    record_mb: int = 0
    """Maximum size of each broker's recording; 0 for networks."""
    version: int = 0
    """Of a network, which may change while it runs: among documents with the same epoch, the highest is valid."""
    members: tuple[tuple[int, str], ...] = ()
    """The brokers that should not run, with their desired state, ``DRAINED`` or ``REMOVED``, by index."""

    @classmethod
    def from_json(cls, document: Any, engine: str = LIVE) -> Deployment:
        """``engine`` limits its size. Raises ``InvalidSetting`` with the dotted name of the first field that is
        invalid, missing or unknown.
        """
        require_object(document, "deployment")
        require_names(document, "", _FIELDS, optional={"faults", RECORD.name, "version", "members", "secret"})
        kind = one_of(document, "kind", (RUN, NETWORK))
        topology = document["topology"]
        require_object(topology, "topology")
        require_names(topology, "topology.", {"brokers", "links"}, optional={"positions"})
        brokers = whole(topology["brokers"], "topology.brokers", 1, ENGINES[engine].brokers)
        places = documents.positions(topology.get("positions"), brokers)
        joined = documents.links(topology["links"], brokers, ENGINES[engine])
        system = SYSTEMS[one_of(document, "system", tuple(SYSTEMS))]
        setup, servers = _setup(system, document, kind, Graph(brokers, joined, places))
        record_mb = _record_mb(document.get(RECORD.name, RECORD.default), kind, servers)
        system.check_engine(setup, engine, bool(record_mb))
        return cls(
            id=_identifier(document["id"]),
            kind=kind,
            epoch=whole(document["epoch"], "epoch", 0, 2**53),
            directory=_directory(document["directory"]),
            system=system,
            setup=setup,
            lease_s=_lease(document["lease_s"], kind),
            faults=_faults(document.get("faults", []), system, setup),
            record_mb=record_mb,
            version=whole(document.get("version", 0), "version", 0, 2**53),
            members=documents.members(document.get("members", {}), system, servers, joined, is_run=kind == RUN),
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON document; ``from_json`` of it is equal."""
        graph, workload = self.setup.graph, self.setup.workload
        topology: dict[str, Any] = {"brokers": graph.brokers, "links": [link.to_json() for link in graph.links]}
        if graph.positions is not None:
            topology["positions"] = [list(place) for place in graph.positions]
        return {
            "id": self.id,
            "kind": self.kind,
            "epoch": self.epoch,
            "directory": self.directory,
            "seed": self.seed,
            "system": self.system.name,
            "topology": topology,
            "settings": self.system.settings_document(self.setup.settings),
            "workload": None if workload is None else self.system.workload_document(workload),
            "lease_s": self.lease_s,
            "faults": [fault.to_json() for fault in self.faults],
            "record_mb": self.record_mb,
            **({"version": self.version} if self.version else {}),
            **({"members": {str(index): state for index, state in self.members}} if self.members else {}),
            **({"secret": self.setup.secret.hex()} if self.setup.secret else {}),
        }

    @property
    def graph(self) -> Graph:
        return self.setup.graph

    @property
    def seed(self) -> int:
        return self.setup.seed

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The roles of its servers."""
        return tuple(self.system.roles(self.setup))

    @cached_property
    def server_names(self) -> tuple[str, ...]:
        """The names of the servers' processes, by index."""
        return server_names(self.roles)

    @cached_property
    def absent(self) -> frozenset[int]:
        """The indices of servers that should not run."""
        return frozenset(index for index, _ in self.members)

    @cached_property
    def fleet_names(self) -> tuple[str, ...]:
        """The names of the client fleets' processes."""
        return tuple(self.client_plans()) if self.kind == RUN else ()

    @cached_property
    def schedule(self) -> Schedule:
        """The times of a run."""
        return self.system.schedule(self.setup)

    def client_plans(self) -> Mapping[str, Sequence[Plan]]:
        """All clients of its workload, by process."""
        return {process: plans for process, plans in self.system.plan_clients(self.setup).items() if plans}

    def churn(self) -> tuple[Change, ...]:
        """Departures and returns of servers during measuring."""
        return self.system.churn(self.setup) if self.kind == RUN else ()


def run_document(
    configuration: Mapping[str, Any], *, run: str, seed: int, directory: str, epoch: int = 0, lease_s: float = 60.0
) -> dict[str, Any]:
    """The document of a run with a complete ``configuration`` from ``overlay.experiment.definition``."""
    topology = configuration["topology"]
    return {
        "id": run,
        "kind": RUN,
        "epoch": epoch,
        "directory": directory,
        "seed": seed,
        "system": configuration["system"],
        "topology": {name: topology.get(name) for name in ("brokers", "links", "positions")},
        "settings": configuration["settings"],
        "workload": configuration["workload"],
        "lease_s": lease_s,
        "faults": configuration.get("faults", []),
        RECORD.name: configuration.get(RECORD.name, RECORD.default),
    }


_FIELDS = {"id", "kind", "epoch", "directory", "seed", "system", "topology", "settings", "workload", "lease_s"}


def _identifier(value: object) -> str:
    if not isinstance(value, str) or not _ID.fullmatch(value):
        raise InvalidSetting("id", f"must be 1 to 64 letters, digits, dashes and underscores, not {shown(value)}")
    return value


def _directory(value: object) -> str:
    if not isinstance(value, str) or not value.startswith("/") or "\0" in value or ".." in value.split("/"):
        raise InvalidSetting("directory", f"must be an absolute path without '..', not {shown(value)}")
    return value


def _setup(system: System, document: Mapping[str, Any], kind: str, graph: Graph) -> tuple[Setup, int]:
    """The setup, checked, and its number of servers."""
    settings, workload = document["settings"], document["workload"]
    require_object(settings, "settings")
    if kind == RUN:
        require_object(workload, "workload")
    elif workload is not None:
        raise InvalidSetting("workload", "a network has none; it must be null")
    seed = whole(document["seed"], "seed", 0, 2**64 - 1)
    setup = system.setup(settings, workload, graph, seed, _secret(document.get("secret", ""), kind))
    return setup, system.check(setup)


def _secret(value: object, kind: str) -> bytes:
    """Never shown, not even when it is wrong."""
    if not value:
        return b""
    if kind == RUN:
        raise InvalidSetting("secret", "a run has none; its secrets follow from its seed")
    if not isinstance(value, str) or not _SECRET.fullmatch(value):
        raise InvalidSetting("secret", f"must be {2 * SECRET_BYTES} hexadecimal digits")
    return bytes.fromhex(value)


def _faults(documents: object, system: System, setup: Setup) -> tuple[Fault, ...]:
    if setup.workload is None and documents:
        raise InvalidSetting("faults", "a network has none; they belong to a run")
    return system.read_faults(setup, documents)


def _record_mb(value: Any, kind: str, servers: int) -> int:
    check_record_mb(value, servers)
    if value and kind == NETWORK:
        raise InvalidSetting(RECORD.name, "a network records nothing; it must be 0")
    return int(value)


def _lease(value: object, kind: str) -> float | None:
    if kind == NETWORK:
        if value is not None:
            raise InvalidSetting("lease_s", "a network has no lease; it must be null")
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 1 <= value <= 3600:
        raise InvalidSetting("lease_s", f"must be from 1 to 3600 s, not {shown(value)}")
    return float(value)
