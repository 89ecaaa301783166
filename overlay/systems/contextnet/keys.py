"""Secrets of nodes and gateways, derived from that of their network (contract, section 13)."""

from __future__ import annotations

from hashlib import blake2b

from overlay.core.chance import derive_seed

NO_SECRET = bytes(32)
"""With ``auth`` none."""


def network_secret(seed: int) -> bytes:
    """Of a run, 32 bytes: its load and its gateways derive it from its seed. Of a network only if it has none of its
    own."""
    return blake2b(derive_seed(seed, "contextnet", "network").to_bytes(8, "big"), digest_size=32).digest()


def node_secret(network: bytes, node: bytes, generation: int = 0) -> bytes:
    """``generation``: how many of the node's secrets were revoked."""
    return _derived(network, b"node %d" % generation if generation else b"node", node)


def gateway_secret(network: bytes, gateway: str) -> bytes:
    """The same after a restart."""
    return _derived(network, b"gateway", gateway.encode())


def _derived(network: bytes, purpose: bytes, name: bytes) -> bytes:
    return blake2b(purpose + b" " + name, key=network, digest_size=32).digest()
