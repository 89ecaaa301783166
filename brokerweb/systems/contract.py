"""What pages and REST ask of a system. Counterparts: ``overlay.systems.contract``, ``telemetry.systems.contract``.

Every system has a form, experiments, runs with charts, an overlay with a panel for each server, networks and reports,
without a line here. What it adds is a subclass of ``Web`` in a Django application of its own, which registers it when
it is ready. Applications of systems may import every other room; no other room imports them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from brokerweb.experiments.models import Experiment, Run
    from brokerweb.networks.models import Network


@dataclass(frozen=True, slots=True)
class Part:
    """A section of a page."""

    id: str
    """Of its element. An empty part keeps its place: when a run ends, its page puts all parts in again."""
    title: str
    """Its heading, and the link to it; empty: neither."""
    template: str
    """It gets the page's context and this part as ``part``; empty: there is nothing to show."""
    context: Mapping[str, Any] = field(default_factory=dict)
    script: str = ""
    """A module below ``static``."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A page of its own, in the rail and where pages are found by name."""

    name: str
    about: str
    url: str
    """Its name in the URLconf."""
    more: str = ""
    """Further words by which it is found."""
    icon: str = ""
    """In the rail, of ``img/icons.svg``; empty: it is not there."""
    label: str = ""
    """In the rail."""
    key: str = ""
    """After g it goes there."""


@dataclass(frozen=True, slots=True)
class ServerDetail:
    """What the panel of one server shows below its state and load."""

    template: str
    context: Mapping[str, Any]


class Web:
    """One system. A subclass overrides what it adds; this one adds nothing."""

    urls: ClassVar[str] = ""
    """Module with the addresses of its pages."""
    rest_urls: ClassVar[str] = ""
    """Module with its addresses below ``/api/``."""
    entries: ClassVar[tuple[Entry, ...]] = ()
    enums: ClassVar[Mapping[str, str]] = {}
    """Names of enumerations in REST's document, and where each is defined."""

    def parts_of_run(self, run: Run) -> Sequence[Part]:
        """Below the timeline."""
        return ()

    def parts_of_experiment(self, experiment: Experiment) -> Sequence[Part]:
        """Above the chart, once something was measured."""
        return ()

    def parts_of_network(self, network: Network) -> Sequence[Part]:
        """Below the table of servers."""
        return ()

    def server_of_run(self, run: Run, index: int, shown: Mapping[str, Any]) -> dict[str, Any]:
        """What one server wrote down, for REST and the panel. ``own`` is what its journal says, or ``None``.

        ``shown`` has a row for each server of the run.
        """
        return {"traced_one_in": 0, "own": None, "lately": None}

    def server_of_network(self, network: Network, index: int) -> dict[str, Any]:
        """The same of a server that is asked."""
        return {"traced_one_in": 0, "own": None}

    def detail_of_run(self, run: Run, found: Mapping[str, Any]) -> ServerDetail | None:
        """``found`` is what ``server_of_run`` returned, and the server's row as ``now``."""
        return None

    def detail_of_network(self, network: Network, found: Mapping[str, Any]) -> ServerDetail | None:
        return None
