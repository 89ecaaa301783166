"""Records of ContextNet, drawn."""

from hypothesis import strategies as st

from overlay.systems.contextnet.records import records as r

NODES = st.binary(min_size=16, max_size=16)
NAMES = st.text("abc-é", min_size=1, max_size=8)
U32, U63 = st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 63) - 1)
SHARES = st.floats(0, 1)
ADDRESSES = st.tuples(st.sampled_from(["192.0.2.7", "::1"]), st.integers(1, 65_535))
AMOUNTS = st.builds(r.Amount, U63, U63)


def tuples(each, most=4):
    return st.lists(each, max_size=most).map(tuple)


MESSAGES = st.builds(
    r.Message,
    id=NODES,
    source=NAMES,
    destination=NAMES,
    created_at=U63,
    ttl_s=st.integers(0, 604_800),
    payload=st.binary(max_size=300),
    context=st.binary(max_size=1_024),
    reply_to=st.just("") | NAMES,
)
RECORDS = {
    "hello_poa": st.builds(r.HelloPoa, NAMES, ADDRESSES, U63, U63),
    "ping_config": st.builds(r.PingConfig, st.integers(1, 3_600), st.integers(10, 60_000), U63),
    "load_report": st.builds(
        r.LoadReport, NAMES, U63, U63, U63, U63, SHARES, AMOUNTS, AMOUNTS, *[st.just(3), U63, U63, U63, U63]
    ),
    "connection_report": st.builds(
        r.ConnectionReport,
        NAMES,
        U63,
        U63,
        U63,
        st.integers(10, 60_000),
        U63,
        tuples(st.builds(r.Pong, NODES, U63)),
        tuples(st.builds(r.Held, NODES, U32)),
        part=st.integers(0, 3),
        parts=st.integers(4, 65_535),
    ),
    "gw_list": st.builds(
        r.GatewayList, U63, tuples(st.builds(r.Ranked, NAMES, ADDRESSES, st.floats(0, allow_infinity=False)))
    ),
    "handover": st.builds(r.HandOver, U63, NODES, tuples(ADDRESSES), NAMES),
    "unsent": st.builds(
        r.Unsent, MESSAGES, st.just("") | NAMES, U32, st.sampled_from(r.Reason), st.integers(0, 65_535)
    ),
    "context_report": st.builds(r.ContextReport, NODES, U32, st.binary(max_size=1_024), U63),
    "group_advertisement": st.builds(r.GroupReport, NAMES, NODES, tuples(NAMES), U63),
    "inbound": st.builds(r.Inbound, MESSAGES, NAMES, U32),
    "answers.applications-0": st.builds(r.Inbound, MESSAGES, NAMES, U32),
    "outbound": st.builds(r.Outbound, MESSAGES, U32, st.integers(0, 65_535)),
    "gateway.0": st.builds(r.Outbound, MESSAGES, U32, st.integers(0, 65_535)),
    "groupcast": st.builds(r.Groupcast, MESSAGES, NAMES),
    "broadcast": st.builds(r.Groupcast, MESSAGES, st.just("*")),
    "presence": st.builds(r.Presence, NODES, NAMES, U32, st.booleans()),
    "credentials": st.builds(r.Credential, NODES, U63, st.booleans()),
    "network_name": st.builds(r.NetworkName, NAMES),
    "discarded": st.builds(r.Discarded, NODES, NODES, st.sampled_from(["expired", "evicted"])),
    "rejected": st.builds(r.Rejected, NAMES, NAMES, NAMES, st.binary(max_size=300)),
}
"""By topic."""
