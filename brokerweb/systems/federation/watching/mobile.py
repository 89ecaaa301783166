"""Mobile brokers of a network: their state, what their neighbours and they themselves store, and their bulk queues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks import broker_index
from brokerweb.networks.models import Network
from brokerweb.systems.federation.watching.inspecting import asked, brokers, index_of, name_of
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.system import SYSTEM

MOST_WAITING = 50
"""Subscriptions of a bulk queue that are listed."""
CONNECTED, CONNECTING, OFFLINE, AWAY, DOWN = "connected", "connecting", "offline", "away", "down"
TONES = {CONNECTED: "up", CONNECTING: "starting", OFFLINE: "stopped", AWAY: "not-answering", DOWN: "failed"}
"""The style of each state on pages."""


@dataclass(frozen=True, slots=True)
class Store:
    """What one broker keeps for another."""

    broker: int
    """Who keeps it."""
    neighbour: int
    """For whom."""
    state: str
    """Of the edge, as ``broker`` sees it."""
    count: int
    bytes: int
    unacknowledged: int
    """Messages that its channel keeps for the session, until the neighbour is heard again."""
    gives_up_in_ms: int | None
    """Until it is dropped; ``None``: the neighbour is not away."""

    @property
    def waiting(self) -> int:
        return self.count + (self.unacknowledged if self.state == AWAY else 0)

    @property
    def gives_up_in_s(self) -> float | None:
        return _seconds(self.gives_up_in_ms)


@dataclass(frozen=True, slots=True)
class MobileBroker:
    index: int
    state: str
    """``connected``; ``offline``: its radio is cut; ``away``: neighbours do not reach it; ``connecting``; ``down``."""
    endpoint: str = ""
    epoch: int = 0
    clients: int = 0
    by_neighbours: Sequence[Store] = ()
    by_itself: Sequence[Store] = ()
    bulk: Mapping[str, Any] | None = None
    """``{waiting, omega, leaves_in_ms}``; ``None`` without bulk mode."""
    waiting: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    """The first of its bulk queue."""
    trouble: str = ""
    """Why it could not be asked."""

    @property
    def tone(self) -> str:
        """The style of its state."""
        return TONES[self.state]

    @property
    def listed(self) -> list[dict[str, Any]]:
        """``waiting`` in seconds, and with the neighbours that are to be told by their indices."""
        return [
            {
                **row,
                "waits_s": _seconds(row["waits_ms"]),
                "expires_in_s": _seconds(row["expires_in_ms"]),
                "brokers": [f"Broker {index_of(name)}" for name in row["neighbours"]],
            }
            for row in self.waiting
        ]

    @property
    def unlisted(self) -> int:
        """Subscriptions of its bulk queue that are not in ``waiting``."""
        return 0 if self.bulk is None else max(0, self.bulk["waiting"] - len(self.waiting))

    @property
    def leaves_in_s(self) -> float | None:
        """Until its bulk queue is sent."""
        return None if self.bulk is None else _seconds(self.bulk["leaves_in_ms"])

    @property
    def missing(self) -> int:
        """Subscriptions with which its bulk queue is sent before."""
        return 0 if self.bulk is None else self.bulk["omega"] - self.bulk["waiting"]

    @property
    def stored_for_it(self) -> int:
        return sum(one.waiting for one in self.by_neighbours)

    @property
    def stored_by_it(self) -> int:
        return sum(one.waiting for one in self.by_itself)


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000


def indices(network: Network) -> list[int]:
    """Those of mobile brokers that the network has, whether it runs or not."""
    removed, settings = broker_index.servers_of(network).removed, SYSTEM.read_settings(network.settings)
    return [index for index in settings.mobile_indices if index < network.deployed["brokers"] and index not in removed]


def mobile_brokers(network: Network) -> list[MobileBroker]:
    return [_mobile(network, index) for index in indices(network)]


def _mobile(network: Network, index: int) -> MobileBroker:
    try:
        with asked(network, index) as broker:
            state, figures = broker.state(), broker.figures()
            edges = broker.rows(Subject.NEIGHBOURS, limit=1_000).rows
            waiting = broker.rows(Subject.BULK, limit=MOST_WAITING).rows
    except (NotAnswered, NotPossible) as error:
        return MobileBroker(index, DOWN, by_neighbours=_of_neighbours(network, index, ()), trouble=str(error))
    own = [_store(index, row) for row in edges]
    others = _of_neighbours(network, index, (one.neighbour for one in own))
    return MobileBroker(
        index,
        _state(state["is_offline"], own, others),
        state["endpoint"],
        state["epoch"],
        figures.get("clients", 0),
        others,
        [one for one in own if one.waiting],
        state["bulk"],
        waiting,
    )


def _state(is_offline: bool, own: Sequence[Store], others: Sequence[Store]) -> str:
    if is_offline:
        return OFFLINE
    if any(one.state == "connected" for one in own) or not own:
        return CONNECTED if own else CONNECTING
    return AWAY if any(one.state == "away" for one in (*own, *others)) else CONNECTING


def _of_neighbours(network: Network, index: int, neighbours: Iterable[int]) -> list[Store]:
    """What the neighbours in the tree, or else those in the topology, store for a broker."""
    linked = {
        link["b"] if link["a"] == index else link["a"]
        for link in network.deployed["links"]
        if index in (link["a"], link["b"])
    }
    found = []
    for other in sorted({*neighbours, *linked} & brokers(network).keys()):
        try:
            with asked(network, other) as broker:
                rows = broker.rows(Subject.NEIGHBOURS, limit=1_000).rows
        except (NotAnswered, NotPossible):
            continue
        found += [_store(other, row) for row in rows if row["broker"] == name_of(index)]
    return found


def _store(broker: int, row: Mapping[str, Any]) -> Store:
    neighbour = index_of(row["broker"])
    return Store(
        broker,
        -1 if neighbour is None else neighbour,
        row["state"],
        row["stored"],
        row["stored_bytes"],
        row["unacknowledged"],
        row["gives_up_in_ms"],
    )
