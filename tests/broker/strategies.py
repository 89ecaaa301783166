"""Messages and near-messages for Hypothesis, made from the table of messages."""

from hypothesis import assume
from hypothesis import strategies as st

from overlay.systems.context_broker.wire.feed_messages import Change, FeedRecord
from overlay.systems.context_broker.wire.kinds import Kind, Tail
from overlay.systems.context_broker.wire.messages import ContextResponse, ContextUpdateAdvertisement
from overlay.systems.context_broker.wire.table import BY_CLASS
from overlay.systems.context_broker.wire.values import OPERATION_NAMES

stamps = st.integers(0, 10**19 - 1)
names = st.text(st.characters(codec="utf-8", exclude_characters="|"), min_size=1, max_size=60)
hosts = st.ip_addresses().filter(lambda host: not getattr(host, "scope_id", None)).map(str)
addresses = st.tuples(hosts, st.integers(1, 65535))
hops = st.lists(addresses, max_size=5).map(tuple)
operations = st.sampled_from(OPERATION_NAMES)
statuses = st.sampled_from([101, 102])

OF_KIND = {
    Kind.TIME: stamps,
    Kind.INTEGER: stamps,
    Kind.TTL: st.integers(1, 255),
    Kind.FLAG: st.sampled_from("AU"),
    Kind.NAME: names,
    Kind.PAYLOAD: st.text(min_size=1, max_size=80).map(lambda text: text.encode()),
    Kind.ACK_STATUS: statuses,
    Kind.NACK_STATUS: st.sampled_from([201, 202, 301]),
    Kind.OPERATION: operations,
    Kind.REQUESTER: addresses,
    Kind.ADDRESS: addresses,
    Kind.TARGET: st.text("0123456789abcdef", min_size=40, max_size=40),
    Kind.COUNTERS: st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="|;="), min_size=1, max_size=9), stamps, min_size=1
    ),
    Kind.MESSAGE: st.binary(min_size=1, max_size=80),
    Kind.CHANGE: st.sampled_from([str(change) for change in Change]),
}


@st.composite
def marked(draw):
    path = draw(hops)
    return path, draw(st.frozensets(st.integers(0, len(path) - 1))) if path else frozenset()


within = st.text(min_size=1, max_size=80).map(lambda text: text.encode())
records = st.lists(st.builds(FeedRecord, stamps, OF_KIND[Kind.CHANGE], within), max_size=5).map(tuple)

OF_TAIL = {
    Tail.NONE: st.just(()),
    Tail.HOPS: st.tuples(hops),
    Tail.MARKED_HOPS: marked(),
    Tail.ADDRESSES: st.tuples(hops),
    Tail.STAR: st.tuples(st.booleans()),
    Tail.ADDRESSES_STAR: st.tuples(st.lists(addresses, min_size=1, max_size=5).map(tuple), st.booleans()),
    Tail.RECORDS: st.tuples(records),
}


@st.composite
def built(draw, kind):
    """A message of this class."""
    layout = BY_CLASS[kind]
    values = {one.name: draw(OF_KIND[one.kind]) for one in layout.fields if one.kind in OF_KIND}
    for one in layout.fields:
        if one.after:
            values[one.after], values[one.name] = sorted((values[one.after], values[one.name]))
            assume(values[one.after] != values[one.name])
    return kind(*values.values(), *draw(OF_TAIL[layout.tail]))


messages = st.one_of(*map(built, BY_CLASS))
responses = built(ContextResponse)
updates = built(ContextUpdateAdvertisement)


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
