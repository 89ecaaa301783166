"""Messages and near-messages for Hypothesis."""

from hypothesis import strategies as st

from overlay.systems.context_broker.wire.extensions import (
    BrokerGone,
    ClosestBrokers,
    DataFound,
    DataStored,
    FindBrokers,
    FindData,
    HopAck,
    HopData,
    IndirectPing,
    IndirectPingResponse,
    Lookahead,
    QuietRequest,
    ReplicaConfirm,
    ReplicaRefresh,
    StoreData,
)
from overlay.systems.context_broker.wire.messages import (
    Ack,
    BrokerJoining,
    BrokerLeaving,
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Nack,
    NeighborsRequest,
    NeighborsResponse,
    Ping,
    PingResponse,
    StartNeighborsMonitoring,
    StatsRequest,
    StatsResponse,
)
from overlay.systems.context_broker.wire.table import OPERATIONS

stamps = st.integers(0, 10**19 - 1)
names = st.text(st.characters(codec="utf-8", exclude_characters="|"), min_size=1, max_size=60)
hosts = st.ip_addresses().filter(lambda host: not getattr(host, "scope_id", None)).map(str)
addresses = st.tuples(hosts, st.integers(1, 65535))
hops = st.lists(addresses, max_size=5).map(tuple)
periods = st.tuples(stamps, stamps).filter(lambda edges: edges[0] != edges[1]).map(sorted)
payloads = st.text(min_size=1, max_size=80).map(lambda text: text.encode())
operations = st.sampled_from([*OPERATIONS.values(), "Unknown"])
statuses = st.sampled_from([101, 102])
counters = st.dictionaries(
    st.text(st.characters(codec="utf-8", exclude_characters="|;="), min_size=1, max_size=9), stamps, min_size=1
)


@st.composite
def responses(draw):
    path = draw(hops)
    marks = draw(st.frozensets(st.integers(0, len(path) - 1))) if path else frozenset()
    content = [draw(names) for _ in range(4)], draw(periods), draw(payloads)
    return ContextResponse(draw(stamps), *content[0], *content[1], content[2], path, marks)


@st.composite
def updates(draw):
    flag, content = draw(st.sampled_from("AU")), [draw(names) for _ in range(4)]
    return ContextUpdateAdvertisement(draw(stamps), flag, *content, *draw(periods), draw(payloads))


ttls = st.integers(1, 255)
targets = st.text("0123456789abcdef", min_size=40, max_size=40)


@st.composite
def records(draw):
    kind, content = draw(st.sampled_from([DataFound, StoreData, ReplicaRefresh])), [draw(names) for _ in range(4)]
    brokers = [draw(hops)] if kind is DataFound else []
    return kind(draw(stamps), *content, *draw(periods), draw(payloads), *brokers)


messages = st.one_of(
    *(st.builds(kind, stamps) for kind in (StartNeighborsMonitoring, Ping, NeighborsRequest, StatsRequest)),
    updates(),
    responses(),
    st.builds(ContextRequest, stamps, names, names, names, hops),
    st.builds(Ack, stamps, statuses, operations, addresses),
    st.builds(Nack, stamps, st.sampled_from([201, 202, 301]), operations, addresses, hops),
    st.builds(BrokerLeaving, stamps, st.booleans()),
    st.builds(BrokerJoining, stamps, st.lists(addresses, min_size=1, max_size=5).map(tuple), st.booleans()),
    st.builds(PingResponse, stamps, addresses),
    st.builds(NeighborsResponse, stamps, hops),
    st.builds(StatsResponse, stamps, counters),
    records(),
    st.builds(Lookahead, stamps, ttls, names, names, names, hops),
    *(st.builds(kind, stamps, names, names, names) for kind in (FindData, QuietRequest)),
    st.builds(BrokerGone, stamps, ttls, addresses),
    st.builds(HopData, stamps, stamps, st.binary(min_size=1, max_size=80)),
    st.builds(HopAck, stamps, stamps),
    *(st.builds(kind, stamps, addresses) for kind in (IndirectPing, IndirectPingResponse)),
    st.builds(FindBrokers, stamps, targets, st.booleans()),
    st.builds(ClosestBrokers, stamps, targets, hops),
    st.builds(DataStored, stamps, names, names, names, names),
    st.builds(ReplicaConfirm, stamps, names, names, names, names, stamps),
)


@st.composite
def damaged(draw, message_bytes):
    """A message with a field dropped, doubled, emptied or replaced, or a byte changed."""
    data = draw(message_bytes)
    fields = data.split(b"|")
    at = draw(st.integers(0, len(fields) - 1))
    how = draw(st.sampled_from(["drop", "double", "empty", "replace", "byte"]))
    if how == "byte" and data:
        position = draw(st.integers(0, len(data) - 1))
        return data[:position] + draw(st.binary(min_size=1, max_size=1)) + data[position + 1 :]
    odd = st.sampled_from([b"*", b"0", b"01", b"-1", b"+1", b" 1", b"1e3", b"9" * 20, b"\xff", "é".encode(), b"::1"])
    new = {"drop": [], "double": [fields[at]] * 2, "empty": [b""]}.get(how, [draw(odd)])
    return b"|".join(fields[:at] + new + fields[at + 1 :])
