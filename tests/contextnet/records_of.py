"""Records as a log gives them, for tests of cores that read them."""

from itertools import count

from overlay.log.topics import Record, partition_of
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import ALL, GatewayList, Presence, Ranked

UNIX_US = 1_700_000_000_000_000
_POSITIONS = count(1)


def record(topic, value, key=None, at_us=UNIX_US, partitions=1, position=None):
    """The key of records about a node is the node."""
    key = (value.node if hasattr(value, "node") else ALL.encode()) if key is None else key
    data = value if isinstance(value, bytes) else codec.write(value)
    position = next(_POSITIONS) if position is None else position
    return Record(topic, partition_of(key, partitions), position, key, data, at_us)


def node(number):
    return number.to_bytes(16, "big")


def gateways(*numbers):
    return [f"gateway-{number}" for number in numbers]


def gateway_list(version, *numbers, at_us=UNIX_US):
    ranked = tuple(Ranked(name, ("192.0.2.1", 4_000), 1.0) for name in gateways(*numbers))
    return record("gw_list", GatewayList(version, ranked), at_us=at_us)


def presence(number, gateway, epoch, connected=True):
    return record("presence", Presence(node(number), f"gateway-{gateway}", epoch, connected))
