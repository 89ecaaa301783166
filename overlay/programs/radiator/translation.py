"""A push as the document that clients receive by HTTP. Pure.

In the blob of a chain each member has the address where it receives, and the server that of the gateway. A member that
has left has port 0: it cannot be reached, and the one before it reports FAILED. The MAC is over the canonical form.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from overlay.core.addresses import Address
from overlay.core.binary import canonical
from overlay.systems.radiator.chains.blobs import Opened, Place
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.proofs import mac_of

NOWHERE: Address = ("0.0.0.0", 0)  # noqa: S104
PlaceOf = Callable[[Place], Address | None]
"""Where a member of a chain receives; ``None`` for one that is no client of the gateway."""


def push_document(push: m.Push, opened: Opened, key: bytes, place_of: PlaceOf, home: Address) -> bytes:
    """Canonical JSON. ``home`` is where the client reports to. Raises ``WireError`` for members that are none."""
    blob: Any = json.loads(opened.body)
    if push.chain != m.DIRECT:
        places = [opened.place(position) for position in range(len(opened.members))]
        blob = [[[*(place_of(place) or NOWHERE), place.id] for place in places], list(home), blob]
    names = ("epoch", "propagation", "chain", "position", "attempt")
    mac = mac_of(key, push.epoch, push.propagation, push.chain, canonical(blob))
    return canonical({**{name: getattr(push, name) for name in names}, "mac": mac.hex(), "blob": blob})
