"""Faults of a system that an operator begins and ends while a network runs, such as a radio that is off.

A page of memory for each server that can be a target, shared with its process: the supervisor writes which faults are
active and how often a server was to move, the server writes the port to which it has moved. Counterparts:
``own_faults`` for the planned faults of runs; ``overlay.systems.contract.System.operated_faults`` says which there are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from mmap import mmap
from struct import Struct

from overlay.core.addresses import Address
from overlay.core.errors import WaxwingError
from overlay.deployment.deployment import Deployment
from overlay.faults.faults import Fault
from overlay.faults.kinds import FaultKind
from overlay.runtime.own_faults import Turn

_PORT = Struct("=H")


class ServerFaults:
    """Those of one server, in both processes."""

    def __init__(self, index: int, kinds: Mapping[str, FaultKind]) -> None:
        self._faults = [Fault(name, 0.0, servers=(index,), kind=kind) for name, kind in kinds.items()]
        self._page = mmap(-1, _PORT.size + max(1, len(kinds)))
        self._seen = [0] * len(self._faults)
        """Of the server: the counts at its last look."""

    # ---- the supervisor

    def set(self, name: str, begins: bool) -> Fault | None:
        """Begin or end a fault. Returns it; ``None`` if that changes nothing."""
        at = next(at for at, fault in enumerate(self._faults) if fault.what == name)
        count, lasts = self._counts()[at], self._faults[at].lasts
        if lasts and begins == bool(count % 2):
            return None
        self._page[_PORT.size + at] = (count + 1) % 256
        return self._faults[at]

    def active(self) -> list[str]:
        """The names of faults that last and have begun."""
        return [
            fault.what for fault, count in zip(self._faults, self._counts(), strict=True) if fault.lasts and count % 2
        ]

    @property
    def port(self) -> int:
        """The port to which the server has moved; 0 if it has not."""
        found: int = _PORT.unpack_from(self._page)[0]
        return found

    def begin(self) -> None:
        """A process starts at the address that is known for it."""
        _PORT.pack_into(self._page, 0, 0)
        self._seen = [
            count if not fault.lasts else 0 for fault, count in zip(self._faults, self._counts(), strict=True)
        ]

    # ---- the server

    def look(self) -> Sequence[Turn]:
        """What has begun and ended since the last call."""
        counts = self._counts()
        turns: list[Turn] = []
        for at, fault in enumerate(self._faults):
            if counts[at] == self._seen[at]:
                continue
            was_active, is_active = bool(self._seen[at] % 2), bool(counts[at] % 2)
            if not fault.lasts or was_active != is_active:
                turns.append((fault, is_active or not fault.lasts))
            self._seen[at] = counts[at]
        return turns

    def moved(self, address: Address) -> Address:
        """Tell the supervisor."""
        _PORT.pack_into(self._page, 0, address[1])
        return address

    def _counts(self) -> bytes:
        return self._page[_PORT.size : _PORT.size + len(self._faults)]


class OperatedFaults:
    """Those of a network, by server."""

    def __init__(self) -> None:
        self._servers: dict[int, ServerFaults] = {}

    def of(self, deployment: Deployment, index: int) -> ServerFaults | None:
        """Of a server; ``None`` if it can be no target."""
        kinds = deployment.system.operated_faults(deployment.setup, index)
        if kinds and index not in self._servers:
            self._servers[index] = ServerFaults(index, kinds)
        return self._servers.get(index) if kinds else None

    def set(self, deployment: Deployment, index: int, name: str, begins: bool) -> Fault | None:
        """As ``ServerFaults.set``. Raises ``WaxwingError``."""
        kinds = deployment.system.operated_faults(deployment.setup, index)
        found = self.of(deployment, index)
        if found is None or name not in kinds:
            raise WaxwingError(f"{deployment.server_names[index]} has no fault “{name}” that an operator can begin")
        return found.set(name, begins)

    def active(self) -> dict[int, list[str]]:
        return {index: active for index, one in self._servers.items() if (active := one.active())}

    def addresses(self, known: tuple[Address, ...]) -> tuple[Address, ...]:
        """``known``, with the ports of servers that have moved."""
        moved = {index: one.port for index, one in self._servers.items() if one.port}
        if not moved:
            return known
        return tuple((at[0], moved.get(index, at[1])) for index, at in enumerate(known))
