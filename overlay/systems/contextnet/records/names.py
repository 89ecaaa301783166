"""Topics of the log (contract, section 2)."""

from collections.abc import Iterable
from typing import Final

from overlay.log.topics import Topic

HELLO_POA, PING_CONFIG, LOAD_REPORT = "hello_poa", "ping_config", "load_report"
CONNECTION_REPORT, GATEWAY_LIST, HANDOVER = "connection_report", "gw_list", "handover"
UNSENT, CONTEXT_REPORT, GROUPS = "unsent", "context_report", "group_advertisement"
INBOUND, OUTBOUND, GROUPCAST, BROADCAST = "inbound", "outbound", "groupcast", "broadcast"
PRESENCE, CREDENTIALS, DISCARDED, REJECTED = "presence", "credentials", "discarded", "rejected"
MQTT_DOWN: Final = "mqtt_down"
"""Messages to clients of MQTT; its keys are their ids."""
NETWORK_NAME: Final = "network_name"
"""What people call the network, for commands; its one key is ``name``. No server reads it."""

OF_POA: Final = (HELLO_POA, PING_CONFIG, LOAD_REPORT, CONNECTION_REPORT, GATEWAY_LIST, HANDOVER)
"""One partition each, so that one PoA manager acts and the others stand by."""
COMPACTED: Final = (GROUPS, PRESENCE, CREDENTIALS)
OTHERS: Final = (UNSENT, CONTEXT_REPORT, OUTBOUND, GROUPCAST, BROADCAST, DISCARDED, REJECTED)
OF_SYSTEM: Final = (*OF_POA, *COMPACTED, *OTHERS, MQTT_DOWN, NETWORK_NAME)
"""What nodes never publish to: records of servers and applications."""


_GATEWAY: Final = "gateway."


def gateway_topic(gateway: str) -> str:
    """Messages to the nodes of ``gateway-0``: ``gateway.0``."""
    return _GATEWAY + gateway.removeprefix("gateway-")


def is_gateway_topic(topic: str) -> bool:
    return topic.startswith(_GATEWAY)


def answers_topic(application: str) -> str:
    """Answers to one sender only: the ``reply_to`` of its messages."""
    return f"answers.{application}"


def topics(
    gateways: Iterable[str], applications: Iterable[str], partitions: int, inbound: int, further: Iterable[str] = ()
) -> tuple[Topic, ...]:
    """All topics of a network. ``inbound``: partitions of the topics that applications share, of which ``further`` are
    those that nodes may publish to, and those that proxies write for clients of MQTT."""
    return (
        *(Topic(name) for name in OF_POA),
        *(Topic(name, partitions, is_compacted=True) for name in COMPACTED),
        Topic(NETWORK_NAME, partitions, is_compacted=True),
        *(Topic(name, partitions) for name in OTHERS),
        *(Topic(name, inbound) for name in (INBOUND, *further)),
        Topic(MQTT_DOWN, partitions),
        *(Topic(gateway_topic(gateway)) for gateway in gateways),
        *(Topic(answers_topic(application)) for application in applications),
    )
