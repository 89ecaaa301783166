"""Every record, field by field (contract, section 2). Parser, encoder, documentation and wire lab are made from it."""

from __future__ import annotations

from typing import Any, Final

from overlay.messages.errors import Reason, refuse
from overlay.messages.kinds import BOOLEAN, listed, record, text
from overlay.messages.layouts import Field
from overlay.systems.contextnet.records import fast, kinds, names
from overlay.systems.contextnet.records import records as r
from overlay.systems.contextnet.records.kinds import COUNT, EPOCH, NAME, NODE, TIME_US, whole
from overlay.systems.contextnet.records.maps import Layout, MapCoder

GATEWAY = Field("gateway", NAME, "The gateway that wrote it.")
AT = Field("at", TIME_US, "When it was made.")
SEQ = Field("seq", COUNT, "Counts them since the gateway's start.")
OF_NODE = Field("node", NODE, "The mobile node.")
OF_EPOCH = Field("epoch", EPOCH, "Of the node's connection.")
ATTEMPTS = Field("attempts", whole(0, kinds.MOST_ATTEMPTS), "How often the store has sent it.")
AMOUNT = record("*total, free*", r.Amount, (COUNT, COUNT), ("total", "free"))
RANKED = record(
    "*gateway, address, score*", r.Ranked, (NAME, kinds.ADDRESS, kinds.SCORE), ("gateway", "address", "score")
)


def _report(*values: Any) -> r.ConnectionReport:
    report = r.ConnectionReport(*values)
    if report.part >= report.parts:
        refuse(Reason.RANGE, f"part {report.part} of {report.parts}, counted from 0")
    return report


PERIOD = Field("period_s", whole(1, 3_600, "s"), "From one round of pings to the next.")

MESSAGE: Final = Layout(
    r.Message,
    "",
    "sender → receiver",
    "A message; alone in the transport, and in other records.",
    (
        Field("id", kinds.ID, "Drawn by the sender."),
        Field("source", NAME, "A node's id in hexadecimal, or the name of an application."),
        Field("destination", kinds.DESTINATION, "A node, definer/group, a group, * or a topic."),
        Field("created_at", TIME_US, "When the sender made it."),
        Field("ttl_s", whole(0, kinds.MOST_TTL, "s"), "How long the store may keep it; 0: its default."),
        Field("payload", kinds.octets(0, kinds.MOST_PAYLOAD), "What is told."),
        Field("context", kinds.octets(0, kinds.MOST_CONTEXT), "Of the mobile node that sent it: a MessagePack map."),
        Field("reply_to", kinds.REPLY_TO, "Where the answer goes: a node or a topic; empty: nowhere."),
    ),
)
MESSAGE_CODER: Final = MapCoder(MESSAGE, (fast.read, fast.write))
OF_MESSAGE = Field("message", MESSAGE_CODER.kind(), "The message.")

LAYOUTS: Final[tuple[Layout, ...]] = (
    Layout(
        r.HelloPoa,
        names.HELLO_POA,
        "gateway → PoA manager",
        "A gateway has started.",
        (
            GATEWAY,
            Field("address", kinds.ADDRESS, "Where it receives datagrams."),
            Field("incarnation", COUNT, "Rises with each start."),
            Field("capacity", COUNT, "Connections it takes."),
        ),
    ),
    Layout(
        r.PingConfig,
        names.PING_CONFIG,
        "PoA manager → gateway",
        "How gateways ping their nodes.",
        (
            PERIOD,
            Field("window_ms", whole(10, 60_000, "ms"), "How long after its ping a pong counts."),
            Field("version", COUNT, "Rises with each change."),
        ),
    ),
    Layout(
        r.LoadReport,
        names.LOAD_REPORT,
        "gateway → PoA manager",
        "The load of a gateway.",
        (
            GATEWAY,
            SEQ,
            AT,
            Field("pool_size", COUNT, "Records that may be on their way to nodes at once."),
            Field("pool_used", COUNT, "Records that are."),
            Field("cpu", kinds.SHARE, "Busy share of the period."),
            Field("memory", AMOUNT, "Bytes of the machine."),
            Field("process_memory", AMOUNT, "Bytes of the process; free of its limit."),
            Field("connections", COUNT, "Open."),
            Field("messages_in", COUNT, "From nodes since the start."),
            Field("messages_out", COUNT, "To nodes since the start."),
            Field("queue", COUNT, "Messages that wait in connections."),
            Field("lag_ms", COUNT, "Greatest age of a record read since the last report."),
        ),
    ),
    Layout(
        r.ConnectionReport,
        names.CONNECTION_REPORT,
        "gateway → PoA manager, store",
        "What a round of pings found; in parts.",
        (
            GATEWAY,
            SEQ,
            AT,
            Field("ping_sent_at", TIME_US, "When the round began."),
            Field("window_ms", whole(10, 60_000, "ms"), "How long after its ping a pong counted."),
            Field("pinged", COUNT, "Nodes."),
            Field("pongs", kinds.node_pairs("*node, rtt in µs*", r.Pong, (1 << 63) - 1), "Those in time."),
            Field("nodes", kinds.node_pairs("*node, epoch*", r.Held, (1 << 32) - 1), "With an open connection."),
            Field("part", whole(0, 65_534), "From 0."),
            Field("parts", whole(1, 65_535), "Of this report."),
        ),
        _report,
    ),
    Layout(
        r.GatewayList,
        names.GATEWAY_LIST,
        "PoA manager → gateway → nodes; applications",
        "The active gateways.",
        (
            Field("version", COUNT, "Rises with each list."),
            Field("gateways", listed(RANKED, 0, kinds.MOST_GATEWAYS), "The best first."),
        ),
    ),
    Layout(
        r.HandOver,
        names.HANDOVER,
        "PoA manager → gateway",
        "Asks a node to move.",
        (
            Field("round", COUNT, "Of the PoA manager."),
            OF_NODE,
            Field("targets", kinds.ADDRESSES, "Where to, the best first."),
            Field("reason", kinds.SENTENCE, "Why."),
        ),
    ),
    Layout(
        r.Unsent,
        names.UNSENT,
        "gateway, application → store",
        "A message that could not be delivered.",
        (
            OF_MESSAGE,
            Field("gateway", text(64), "That gave it up; empty: no gateway was known."),
            Field("epoch", EPOCH, "Of the connection that failed; 0: none was known."),
            Field("reason", kinds.one_of(list(r.Reason), r.Reason), "Why."),
            ATTEMPTS,
        ),
    ),
    Layout(
        r.ContextReport,
        names.CONTEXT_REPORT,
        "gateway → group definers",
        "The context of a node.",
        (
            OF_NODE,
            OF_EPOCH,
            Field("context", kinds.octets(0, kinds.MOST_CONTEXT), "A MessagePack map."),
            AT,
        ),
    ),
    Layout(
        r.GroupReport,
        names.GROUPS,
        "group definer → every gateway",
        "The groups of a node by one definer.",
        (
            Field("definer", NAME, "Whose groups they are."),
            OF_NODE,
            Field("groups", kinds.GROUPS, "All that the node is in."),
            Field("version", COUNT, "Position of the context that they follow from."),
        ),
    ),
    Layout(
        r.Inbound,
        names.INBOUND,
        "gateway, MQTT proxy → application",
        "A message of a node; also in the other topics that nodes may publish to.",
        (OF_MESSAGE, GATEWAY, OF_EPOCH),
    ),
    Layout(
        r.Outbound,
        names.OUTBOUND,
        "application, store → gateway",
        "A message to a node; also in the topic of each gateway.",
        (OF_MESSAGE, Field("epoch", EPOCH, "As the sender's directory knows it; 0: not at all."), ATTEMPTS),
    ),
    Layout(
        r.Groupcast,
        names.GROUPCAST,
        "application, node via gateway → every gateway",
        "A message to a group; in topic broadcast to all.",
        (OF_MESSAGE, Field("group", kinds.DESTINATION, "definer/group, a group of any definer, or *.")),
    ),
    Layout(
        r.Presence,
        names.PRESENCE,
        "gateway → senders, store",
        "Whether a node is connected, and where.",
        (OF_NODE, GATEWAY, OF_EPOCH, Field("connected", BOOLEAN, "Open or lingering.")),
    ),
    Layout(
        r.Credential,
        names.CREDENTIALS,
        "operator → every gateway, MQTT proxy",
        "Which secret of a node is valid.",
        (
            OF_NODE,
            Field("generation", COUNT, "How many of its secrets were revoked before."),
            Field("is_revoked", BOOLEAN, "Whether this one is as well."),
        ),
    ),
    Layout(
        r.Discarded,
        names.DISCARDED,
        "store → whoever wants to know",
        "A message that the store gave up.",
        (
            Field("id", kinds.ID, "Of the message."),
            OF_NODE,
            Field("reason", kinds.one_of(("expired", "evicted")), "Why."),
        ),
    ),
    Layout(
        r.NetworkName,
        names.NETWORK_NAME,
        "web process → commands",
        "What people call the network.",
        (Field("name", text(400, 1), "Of no other network of the web process."),),
    ),
    Layout(
        r.Rejected,
        names.REJECTED,
        "any reader → whoever wants to know",
        "A record that could not be read.",
        (
            Field("topic", text(249, 1), "Where it was."),
            Field("reader", NAME, "Who could not read it."),
            Field("reason", kinds.SENTENCE, "Why."),
            Field("value", kinds.octets(0, kinds.MOST_REJECTED), "Its first bytes."),
        ),
    ),
)
