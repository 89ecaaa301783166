"""Who may connect. With secrets, a client of MQTT is a node: its id is the node's in hexadecimal digits, and its
password the node's secret."""

from __future__ import annotations

from collections.abc import Callable
from hmac import compare_digest

from overlay.systems.contextnet.records.kinds import ID_BYTES
from overlay.systems.contextnet.transport.gate import Secret

Credentials = Callable[[str, bytes | None], bool]
"""Whether a client with this id and password may connect. The name of its user is not looked at."""


def any_client(client: str, password: bytes | None) -> bool:
    return True


def with_secrets(secret_of: Callable[[bytes], Secret]) -> Credentials:
    """``secret_of``: the secret of a node."""

    def may_connect(client: str, password: bytes | None) -> bool:
        node = _node(client)
        if node is None or password is None:
            return False
        secret = secret_of(node)
        return compare_digest(password, secret.key.hex().encode()) and not secret.is_revoked

    return may_connect


def _node(client: str) -> bytes | None:
    try:
        node = bytes.fromhex(client)
    except ValueError:
        return None
    return node if len(node) == ID_BYTES and node.hex() == client else None
