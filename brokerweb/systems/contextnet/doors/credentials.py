"""Secrets of nodes: given out, revoked, and told to the gateways by the log. Blocking.

Rows say what is so; the log is told at once, and again when it was erased, as after a start of its network.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from django.db import transaction

from brokerweb.changelog.recording import say
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.models import UP, Network
from brokerweb.networks.snapshot import read_snapshot
from brokerweb.systems.contextnet.doors.places import place_of
from brokerweb.systems.contextnet.models import NodeSecret
from overlay.programs.contextnet.logs import NetworkLog
from overlay.programs.questions import NoAnswer
from overlay.systems.contextnet.keys import network_secret, node_secret
from overlay.systems.contextnet.records.records import Credential
from overlay.systems.contextnet.system import SYSTEM


def give(network: Network, node: bytes) -> bytes:
    """The secret of a node; after a revocation another one. Raises ``NotPossible`` where nodes need none."""
    _check(network)
    with transaction.atomic():
        row = NodeSecret.objects.select_for_update().filter(network=network, node=node.hex()).first()
        if row is not None and row.is_revoked:
            row.generation, row.is_revoked = row.generation + 1, False
            row.save(update_fields=["generation", "is_revoked"])
            transaction.on_commit(lambda: _tell(network.pk))
        say("network", network.pk, network.name, "give secret of a node", after={"node": node.hex()})
    own = bytes.fromhex(network.secret) if network.secret else network_secret(network.seed)
    return node_secret(own, node, 0 if row is None else row.generation)


def revoke(network: Network, node: bytes) -> None:
    """Its gateway closes its connection, and what is sent to it is kept until it expires. Raises ``NotPossible``."""
    _check(network)
    with transaction.atomic():
        NodeSecret.objects.update_or_create(network=network, node=node.hex(), defaults={"is_revoked": True})
        transaction.on_commit(lambda: _tell(network.pk))
        say("network", network.pk, network.name, "revoke secret of a node", after={"node": node.hex()})


def revoked(network: str) -> frozenset[str]:
    """The nodes whose secret is."""
    return frozenset(NodeSecret.objects.filter(network=network, is_revoked=True).values_list("node", flat=True))


def tell_all() -> None:
    """The logs of networks that run, whatever they lack."""
    for network in set(NodeSecret.objects.filter(network__state__in=UP).values_list("network_id", flat=True)):
        _tell(network)


def _tell(network: str) -> None:
    """A network that does not run, or a log that is away, is told later."""
    rows = NodeSecret.objects.filter(network=network)
    with suppress(NotPossible, NoAnswer):
        _write(place_of(read_snapshot(network)).log, [_credential(row) for row in rows])


def _write(log: NetworkLog, wanted: Iterable[Credential]) -> None:
    known = log.credentials()
    for one in wanted:
        if known.get(one.node) != one:
            log.tell(one)


def _credential(row: NodeSecret) -> Credential:
    return Credential(bytes.fromhex(row.node), row.generation, row.is_revoked)


def _check(network: Network) -> None:
    if SYSTEM.read_settings(network.settings).auth != "secret":
        raise NotPossible("Nodes of this network have no secrets: its setting auth is none.")
