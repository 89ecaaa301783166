"""The secrets of nodes that gateways know: derived from that of the network, unless an operator has revoked them."""

from __future__ import annotations

from overlay.systems.contextnet.keys import node_secret
from overlay.systems.contextnet.records.records import Credential
from overlay.systems.contextnet.transport.gate import Secret


class Credentials:
    def __init__(self, network: bytes) -> None:
        """``network``: its secret."""
        self._network = network
        self._told: dict[bytes, Credential] = {}
        """By node, the newest."""

    def learn(self, found: Credential) -> None:
        """A record; one that is older than what is known changes nothing."""
        known = self._told.get(found.node)
        if known is None or (found.generation, found.is_revoked) > (known.generation, known.is_revoked):
            self._told[found.node] = found

    def secret_of(self, node: bytes) -> Secret:
        found = self._told.get(node)
        if found is None:
            return Secret(node_secret(self._network, node))
        return Secret(node_secret(self._network, node, found.generation), found.is_revoked)
