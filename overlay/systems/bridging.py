"""The interface of bridges: processes that connect a network with a server of another protocol. Pure.

A system names its ``Bridging`` in ``System.bridging``. It is imported by what checks and runs bridges only: a server's
process stays small. Counterparts: ``overlay.runtime.bridges`` runs them, ``brokerweb.bridges`` has their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from overlay.core.errors import InvalidSetting

if TYPE_CHECKING:
    from overlay.core.settings import SettingInfo
    from overlay.systems.contract import System

CONNECTED, CONNECTING = "connected", "connecting"
"""What a bridge reports as its ``state``; ``reason`` says why it is not connected."""


@dataclass(frozen=True, slots=True)
class BridgePlace:
    """What a bridge's process is given in addition to its document."""

    id: str
    """The same at every start, unique among all bridges."""
    brokers: str
    """Path of the bootstrap list, which follows the network."""
    report: str
    """Path for its report: one JSON object with ``pid``, ``state``, ``reason``, ``since_unix_ms`` and ``counters``."""
    lifeline: int
    """Descriptor whose end is the end of its owner."""


class Bridging(Protocol):
    """The bridges of one system. A document has ``mqtt`` (the server's URL), ``username``, ``password``, ``tls`` (PEM
    texts ``ca``, ``certificate`` and ``key``), ``in`` and ``out`` (patterns) and the values of ``settings``."""

    title: str
    """The protocol: ``MQTT``."""
    settings: Sequence[SettingInfo]
    """Further settings, for forms."""
    more: Sequence[str]
    """Settings of documents that forms do not show."""
    default_pattern: str
    """Of topics, for forms."""
    pattern_help: str
    """What patterns are made of, as sentences."""
    counters: Mapping[str, Sequence[str]]
    """For each counter that pages show, what a report counts of it."""

    def problems(self, document: Mapping[str, Any]) -> Sequence[InvalidSetting]:
        """Everything that is wrong with a document."""
        ...

    def run(self, document: Mapping[str, Any], place: BridgePlace, on_ready: Callable[[], None]) -> int:
        """Be the bridge, until SIGTERM or the end of the lifeline. Returns the exit code; raises ``WaxwingError``."""
        ...


def bridging_of(system: System) -> Bridging | None:
    """``None``: its networks have no bridges. Raises ``InvalidSetting`` if it cannot be imported."""
    if not system.bridging:
        return None
    try:
        found: Bridging = resolve_name(system.bridging)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidSetting(f"{system.name}.bridging", f"{system.bridging!r} cannot be imported: {error}") from None
    return found
