"""Every datagram, field by field (seed 003, section 4.3). ``codec`` reads and writes what this table says."""

from __future__ import annotations

from overlay.core.binary import Field, Format, Kind, Layout
from overlay.systems.radiator.context import MAX_BYTES
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.compression import CODECS

MAGIC = b"RD\x01"
"""Protocol and version."""
KEY_BYTES, MAC_BYTES, BITMAP_BYTES = 16, 8, m.WINDOW // 8

BLOB_EXAMPLE = (
    '[[["10.0.0.2",7001,"Alice"],["10.0.0.3",7002,"Bob"],["10.0.0.4",7003,"Carol"]],["10.0.0.1",7000],'
    '{"a":{"speed":50},"n":1,"p":["Alice"],"t":[0,0]}]'
)
CONTEXT_EXAMPLE = '{"a":{"speed":50},"n":1,"p":["Alice"],"t":[0,0]}'

REQ = Field("req", Kind.U32, "Number of the request at this instance; a repeat has the same.", example="1")
INSTANCE = Field("instance", Kind.U64, "Random number of the client's life.", example="7")
CODE = Field(
    "code",
    Kind.U8,
    "What the server answers.",
    choices=tuple(range(5)),
    words=("ok", "collision", "full", "malformed", "repeat with this token"),
    example="0",
)
ID = Field("id", Kind.TEXT8, "Name of the client, unique at its IP address.", example="Alice")
EPOCH = Field("epoch", Kind.U64, "Random number of the server's life.", example="1")
CODEC = Field(
    "codec",
    Kind.U8,
    "How what follows is compressed.",
    choices=tuple(range(len(CODECS))),
    words=CODECS,
    example="0",
)
PROPAGATION = (EPOCH, Field("propagation", Kind.U64, "Number of the propagation in its epoch.", example="2"))
CHAIN = Field("chain", Kind.U16, "Number of the chain in its propagation; 65,535 for a direct push.", example="0")
ATTEMPT = Field("attempt", Kind.U16, "Number of the injection into the chain, from 0.", example="0")
POSITION = Field("position", Kind.U16, "Place in the chain, from 0.", example="0")
REPORT = (*PROPAGATION, CHAIN, ATTEMPT, POSITION, INSTANCE)

TO_SERVER, TO_CLIENT, TO_HOP = "client → server", "server → client", "server or client → client"


def _wrong_push(push: m.Push) -> str:
    if not push.segment < push.segments:
        return f"segment {push.segment} of {push.segments}"
    if push.chain == m.DIRECT:
        return f"position {push.position} of a direct push" if push.position or push.length else ""
    return "" if push.position < push.length else f"position {push.position} in a chain of {push.length}"


LAYOUTS = (
    Layout(
        1,
        m.Register,
        "register",
        TO_SERVER,
        "Asks for a place in the table of clients.",
        (
            REQ,
            INSTANCE,
            Field("token", Kind.U64, "From REGISTERED with code 4; 0 in the first request.", example="0"),
            Field(
                "flags",
                Kind.U8,
                "Who may push to it.",
                choices=m.FLAGS,
                words=("the server", "other clients, too", "other clients by HTTP only, too"),
                example="1",
            ),
            ID,
            Field(
                "attributes",
                Kind.JSON16,
                "Attributes of the client, by name.",
                most=MAX_BYTES,
                example='{"floor":2}',
            ),
        ),
        changes="The server pushes contexts to the sender's port until they are not acknowledged there.",
    ),
    Layout(
        2,
        m.Registered,
        "registered",
        TO_CLIENT,
        "Answers a registration.",
        (
            REQ,
            CODE,
            EPOCH,
            Field(
                "key",
                Kind.FIXED,
                "Group key for MACs.",
                size=KEY_BYTES,
                only_with=("code", 0),
                example="00" * KEY_BYTES,
            ),
            Field("token", Kind.U64, "Proof that the address receives.", only_with=("code", 4), example="1"),
        ),
    ),
    Layout(
        3,
        m.Unregister,
        "unregister",
        TO_SERVER,
        "Gives up the place in the table.",
        (REQ, INSTANCE, ID),
        changes="The server forgets the client, and drops what is pending for it.",
    ),
    Layout(4, m.Unregistered, "unregistered", TO_CLIENT, "Answers the above.", (REQ, CODE)),
    Layout(
        5,
        m.Context,
        "context",
        TO_SERVER,
        "A context to propagate.",
        (
            REQ,
            INSTANCE,
            Field("called_at", Kind.U64, "Intended instant of the call.", unit="ns since 1970", example="now"),
            CODEC,
            Field("body", Kind.REST, "The context as canonical JSON, compressed.", example=CONTEXT_EXAMPLE),
        ),
        changes="The server propagates the context to its clients.",
    ),
    Layout(
        6,
        m.Accepted,
        "accepted",
        TO_CLIENT,
        "Answers a context.",
        (
            REQ,
            Field(
                "code",
                Kind.U8,
                "What the server answers.",
                choices=tuple(m.Acceptance),
                words=("ok", "unknown client", "busy", "malformed", "too large", "over its share"),
                example="0",
            ),
            Field(
                "retry_ms", Kind.U16, "With busy or over its share: when to repeat the request.", unit="ms", example="0"
            ),
        ),
    ),
    Layout(
        7,
        m.Push,
        "push",
        TO_HOP,
        "A segment of a blob.",
        (
            *PROPAGATION,
            CHAIN,
            POSITION,
            Field("length", Kind.U16, "Members of the chain; 0 for a direct push.", unit="clients", example="3"),
            ATTEMPT,
            CODEC,
            Field("segment", Kind.U16, "Number of the segment, from 0.", example="0"),
            Field("segments", Kind.U16, "Segments of the blob.", example="1"),
            Field(
                "mac",
                Kind.FIXED,
                "Keyed hash of epoch, propagation, chain and blob.",
                size=MAC_BYTES,
                example="00" * MAC_BYTES,
            ),
            Field("part", Kind.REST, "This segment of the blob.", example=BLOB_EXAMPLE),
        ),
        _wrong_push,
    ),
    Layout(
        8,
        m.Ack,
        "ack",
        "client → server or client",
        "Acknowledges segments.",
        (
            *PROPAGATION,
            CHAIN,
            ATTEMPT,
            Field("base", Kind.U16, "All segments before it have arrived.", example="1"),
            Field(
                "bitmap",
                Kind.FIXED,
                "A bit for each of the next 256 segments, the highest first.",
                size=BITMAP_BYTES,
                example="00" * BITMAP_BYTES,
            ),
        ),
    ),
    Layout(
        9,
        m.Failed,
        "failed",
        TO_SERVER,
        "The member at this position does not acknowledge.",
        REPORT,
        changes="The server takes that member for unreachable, and goes on with the next one.",
    ),
    Layout(10, m.Done, "done", TO_SERVER, "The last member has the blob.", REPORT),
    Layout(11, m.Progress, "progress", TO_SERVER, "The member at this position has the blob.", REPORT),
    Layout(
        12,
        m.Noted,
        "noted",
        TO_CLIENT,
        "Acknowledges a report.",
        (
            *REPORT,
            Field(
                "kind",
                Kind.U8,
                "The kind of the report.",
                choices=m.REPORTS,
                words=("failed", "done", "progress"),
                example="10",
            ),
        ),
    ),
    Layout(13, m.Alive, "alive", TO_SERVER, "The client is there.", (INSTANCE,)),
    Layout(14, m.RegisterAgain, "register again", TO_CLIENT, "The server does not know the client.", (EPOCH,)),
    Layout(
        15,
        m.Inspect,
        "inspect",
        "operator → server",
        "Asks for figures, clients, or what is pending.",
        (
            REQ,
            Field("token", Kind.U64, "From INSPECTED with code 1; 0 in the first request.", example="0"),
            Field(
                "subject",
                Kind.U8,
                "What is asked for.",
                choices=tuple(m.Subject),
                words=("figures", "clients", "pending"),
                example="1",
            ),
            Field(
                "clients",
                Kind.U8,
                "Which clients are listed.",
                choices=(0, 1, 2),
                words=("all", "reachable ones", "unreachable ones"),
                example="0",
            ),
            Field("offset", Kind.U32, "Rows to skip.", example="0"),
            Field("limit", Kind.U16, "Rows at most.", example="100"),
            Field(
                "padding",
                Kind.REST,
                "Anything: without a token, at most three times the request is answered.",
                example=" " * 16,
            ),
        ),
    ),
    Layout(
        16,
        m.Inspected,
        "inspected",
        "server → operator",
        "Answers the above.",
        (
            REQ,
            Field(
                "code",
                Kind.U8,
                "What the server answers.",
                choices=tuple(m.Inspection),
                words=("ok", "repeat with this token", "only programs on the server's host are answered"),
                example="0",
            ),
            Field("token", Kind.U64, "Proof that the address receives.", only_with=("code", 1), example="9"),
            Field(
                "body",
                Kind.REST,
                "What was asked for, as JSON.",
                only_with=("code", 0),
                example='{"clients":0,"offset":0,"reachable":0,"rows":[],"total":0}',
            ),
        ),
    ),
)

FORMAT = Format(MAGIC, LAYOUTS)
KINDS: dict[type, int] = {layout.message: layout.code for layout in LAYOUTS}
