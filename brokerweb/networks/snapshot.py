"""What is known of a network at one moment: its row, read once for all that ask within a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import Http404

from brokerweb.networks import broker_index
from brokerweb.networks.models import UP, Network
from overlay.core.addresses import Address, parse_address
from overlay.deployment.rollout import RUNNING


@dataclass(frozen=True)
class NetworkSnapshot:
    """What was true when it was read. Not a row, so that an event loop may keep it."""

    network: str
    """The network's id."""
    system: str
    state: str
    reason: str
    settings: Mapping[str, Any]
    servers: int
    """How many it was deployed with."""
    rows: Sequence[Mapping[str, Any]]
    """Each as last observed: ``index``, ``address``, ``state``, ``pid``."""

    @property
    def is_up(self) -> bool:
        return self.state in UP

    @cached_property
    def up(self) -> Mapping[Address, Mapping[str, Any]]:
        """The servers that run, by address."""
        return {parse_address(row["address"]): row for row in self.rows if row["state"] == "up"}

    @cached_property
    def addresses(self) -> tuple[Address, ...]:
        """Theirs."""
        return tuple(self.up)

    @cached_property
    def present(self) -> Sequence[Mapping[str, Any]]:
        """The rows without servers that were drained and have stopped: what these had is at others."""
        return [row for row in self.rows if row.get("wanted", RUNNING) == RUNNING or row.get("pid") is not None]


def snapshot_of(network: Network) -> NetworkSnapshot:
    """From a row that was just read. May query the database."""
    return NetworkSnapshot(
        network=str(network.pk),
        system=network.system,
        state=network.state,
        reason=network.reason,
        settings=network.settings,
        servers=len(broker_index.servers_of(network)),
        rows=network.brokers,
    )


def read_snapshot(network_id: str) -> NetworkSnapshot | None:
    """From the database; ``None`` if there is no such network."""
    found = Network.objects.filter(pk=network_id).first()
    return None if found is None else snapshot_of(found)


def snapshot_or_404(network_id: str) -> NetworkSnapshot:
    """The same for a view. Raises ``Http404``."""
    snapshot = read_snapshot(network_id)
    if snapshot is None:
        raise Http404("There is no such network, or you may not see it.")
    return snapshot
