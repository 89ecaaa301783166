"""How clients find brokers (``docs/discovery.md``), field by field."""

from __future__ import annotations

from overlay.systems.context_broker.wire.discovery_messages import BrokersRequest, BrokersResponse
from overlay.systems.context_broker.wire.kinds import Family, Field, Kind, Layout, Tail
from overlay.systems.context_broker.wire.shared_fields import ADDRESSES, BROKER_AT, OF_QUESTION, SENT

DISCOVERY = (
    Layout(
        38,
        BrokersRequest,
        "question for load and brokers",
        Family.UPKEEP,
        "anyone → broker",
        "Asks a broker for its load and for other brokers.",
        (SENT, Field("Most", Kind.INTEGER, "8", "How many addresses are wanted at most.")),
        is_operation=True,
    ),
    Layout(
        39,
        BrokersResponse,
        "load and brokers",
        Family.UPKEEP,
        "broker → asker",
        "The broker is ready for clients; some of its neighbours.",
        (
            OF_QUESTION,
            Field("Epoch", Kind.INTEGER, "1795338000000", "Start of the broker, in ms since 1970 UTC."),
            Field("LoadPerS", Kind.INTEGER, "12", "Codes 2, 3, 4, 6 and 32 received per second."),
        ),
        tail=Tail.ADDRESSES,
        tail_example=f"{BROKER_AT}\n127.0.0.1:7002",
        tail_meaning=ADDRESSES,
        is_answer=True,
    ),
)
