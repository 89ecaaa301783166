"""Every message, and what follows from their descriptions. Sources: wire-protocol sections 2 and 4."""

from __future__ import annotations

from overlay.systems.context_broker.wire.discovery_messages import DiscoveryMessage
from overlay.systems.context_broker.wire.discovery_table import DISCOVERY
from overlay.systems.context_broker.wire.extension_table import BEYOND
from overlay.systems.context_broker.wire.extensions import Extension
from overlay.systems.context_broker.wire.feed_messages import FeedMessage
from overlay.systems.context_broker.wire.feed_table import FEED
from overlay.systems.context_broker.wire.kinds import Layout
from overlay.systems.context_broker.wire.messages import Message
from overlay.systems.context_broker.wire.seed_table import TEN

AnyMessage = Message | Extension | FeedMessage | DiscoveryMessage

LAYOUTS: dict[int, Layout] = {layout.code: layout for layout in (*TEN, *BEYOND, *FEED, *DISCOVERY)}
"""By code."""

BY_CLASS: dict[type, Layout] = {layout.message: layout for layout in LAYOUTS.values()}

CODES: dict[type, int] = {message: layout.code for message, layout in BY_CLASS.items()}

OPERATIONS: dict[int, str] = {layout.code: layout.name for layout in LAYOUTS.values() if layout.is_operation}
"""Operation names of ACK and NACK by code. What has none here is ``UNKNOWN``."""

UNKNOWN = "Unknown"

NEVER_ANSWERED = frozenset(layout.code for layout in LAYOUTS.values() if layout.is_answer)
