"""The contract's words for faults, put into those of this program. Pure.

::

    {what: vanish, clients: [p3, c0], way: proper, at_s: 5, until_s: 9}   provider-3 and consumer-0
    {what: kill, servers: [bdrs, b1], at_s: 5}                            bdrs-0 and broker-1; also in islands and links

What cannot be read is left to the reader of all faults, which names it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from overlay.systems.federation.names import BDRS, BROKER, CONSUMER, PROVIDER, SERVICE

ROLES = {"p": PROVIDER, "c": CONSUMER}
_CLIENT = re.compile(r"([pc])(\d{1,6})")
_BROKER = re.compile(r"b(\d{1,6})")
WHERE = ("servers", "islands", "links")


def in_common_words(documents: object) -> object:
    if not isinstance(documents, list):
        return documents
    return [_translated(document) if isinstance(document, Mapping) else document for document in documents]


def _translated(document: Mapping[Any, Any]) -> dict[Any, Any]:
    found = {name: _of_servers(value) if name in WHERE else value for name, value in document.items()}
    if isinstance(found.get("clients"), list):
        found["clients"] = [_of_client(one) for one in found["clients"]]
    return found


def _of_client(name: Any) -> Any:
    match = _CLIENT.fullmatch(name) if isinstance(name, str) else None
    return f"{ROLES[match[1]]}-{match[2]}" if match else name


def _of_servers(value: Any) -> Any:
    """Also in lists of lists."""
    if isinstance(value, list):
        return [_of_servers(one) for one in value]
    if value == SERVICE:
        return f"{BDRS}-0"
    match = _BROKER.fullmatch(value) if isinstance(value, str) else None
    return f"{BROKER}-{match[1]}" if match else value
