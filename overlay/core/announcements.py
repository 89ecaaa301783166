"""Brokers announced by DNS-SD (RFC 6763), as values. Pure; ``overlay.runtime.announcing`` sends and receives them.

One service instance is one broker. Its name is the network's, the broker's index and the network's id. The TXT record
has the same in ``name``, ``idx`` and ``net``, and the system in ``sys``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from overlay.core.addresses import Address

SERVICE = "_waxwing._udp.local."
"""Not registered with IANA; the form is that of RFC 6335."""
VERSION = "1"
MOST_LABEL = 63
"""Bytes of an instance name."""
MOST_VALUE = 200
"""Bytes of a value; the record's limit is 255 with its key."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """One broker of a network."""

    network: str
    """The network's id."""
    name: str
    """The network's name."""
    system: str
    index: int
    address: Address

    @property
    def instance(self) -> str:
        """The full name of the service instance."""
        tail = f" {self.index} ({self.network})"
        name = re.sub(r"[\x00-\x1f\x7f.]", " ", self.name)
        return f"{_cut(name, MOST_LABEL - len(tail.encode()))}{tail}.{SERVICE}"

    @property
    def host(self) -> str:
        """The host name of the SRV record."""
        return f"waxwing-{self.network}-{self.index}.local."

    @property
    def text(self) -> dict[str, str]:
        """The TXT record."""
        name = _cut(self.name, MOST_VALUE)
        return {"txtvers": VERSION, "net": self.network, "name": name, "sys": self.system, "idx": str(self.index)}


def read(text: Mapping[str, str | None], address: Address) -> Announcement | None:
    """From a TXT record; ``None`` if it is not one of ours, or of a later version."""
    index, network, name, system = (text.get(key) for key in ("idx", "net", "name", "sys"))
    if text.get("txtvers") != VERSION or network is None or name is None or system is None or index is None:
        return None
    if not (index.isascii() and index.isdigit() and len(index) <= 7):
        return None
    return Announcement(network, name, system, int(index), address)


def _cut(text: str, most_bytes: int) -> str:
    return text.encode()[:most_bytes].decode(errors="ignore")
