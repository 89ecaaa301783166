"""Faults of a system's own, such as a radio that is off: what its servers or clients do in them is theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Protocol

from overlay.core.settings import SettingInfo, build, describe

TAKEN = {"what", "at_s", "until_s", "brokers", "servers", "clients", "label", "one_way", "address"}
"""Names of fields that documents of faults have already."""


@dataclass(frozen=True, slots=True)
class NoFields:
    """The fields of a fault without any."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault in ``System.faults``, which has its name in documents."""

    title: str
    """``Radio off``."""
    servers: tuple[str, ...] = ()
    """The roles of servers that it can have as targets."""
    clients: tuple[str, ...] = ()
    """The same for clients: the first parts of their identities."""
    Fields: type = NoFields
    """A dataclass of its other fields, from ``overlay.core.settings.setting``."""
    lasts: bool = True
    """Whether it can end. If not, such as a change of address, targets only see it begin, and only if they run."""
    moves: bool = False
    """Whether its targets, servers, get another port. The driver binds it first; the document that each of them sees
    has its new ``address``, ``host:port``. A server that restarts has its first port again."""

    of_log: bool = False
    """Whether the driver applies it to the log (``of_log``), unseen by servers and clients. It may have no targets."""

    def __post_init__(self) -> None:
        if not self.has_targets and not self.of_log:
            raise ValueError(f"the fault “{self.title}” has no targets")
        if self.moves and (self.lasts or self.clients):
            raise ValueError(f"the fault “{self.title}” moves servers: it cannot last, and has no clients as targets")
        if taken := {info.name for info in self.fields} & TAKEN:
            raise ValueError(f"the fault “{self.title}” has a field “{min(taken)}”, which every fault has")

    @property
    def has_targets(self) -> bool:
        """Whether it is of some servers or clients, which a document names."""
        return bool(self.servers or self.clients)

    @property
    def fields(self) -> tuple[SettingInfo, ...]:
        return tuple(describe(self.Fields))

    def read(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All its fields, checked. Raises ``InvalidSetting``."""
        return asdict(build(self.Fields, values)) if fields(self.Fields) else {}


class Faulted(Protocol):
    """What a server or client has in addition, if a fault of its system can have it as a target."""

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """A fault of its system begins or ends; ``document`` is the fault's. Output is collected afterwards. A server
        that starts during a fault sees it begin directly after its start."""
        ...
