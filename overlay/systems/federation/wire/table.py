"""Every message, field by field (seed 001, details, section 1). ``codec`` reads and writes what this table says."""

from __future__ import annotations

from overlay.messages.layouts import Layout
from overlay.systems.federation.wire.broker_table import broker_layouts
from overlay.systems.federation.wire.client_table import client_layouts
from overlay.systems.federation.wire.layouts import Values


def layouts(values: Values) -> tuple[Layout, ...]:
    """All messages, in the order of their codes."""
    return (*client_layouts(values), *broker_layouts(values))
