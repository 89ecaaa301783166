"""Fields that several messages have. Counterparts: ``seed_table`` and ``extension_table``."""

from __future__ import annotations

from overlay.systems.context_broker.wire.kinds import Field, Kind

NOW = "now"
VALID = "now+120s"
BROKER_AT = "127.0.0.1:7001"
CONSUMER_AT = "127.0.0.1:40000"

SENT = Field("Timestamp", Kind.TIME, NOW, "When it was sent.")
QUERY = Field("Timestamp", Kind.TIME, NOW, "The consumer's; unchanged on the way, because it names the query.")
ENTRY = Field("Timestamp", Kind.TIME, NOW, "That of the message that stored the entry; unchanged on the way.")
OF_QUESTION = Field("Timestamp", Kind.TIME, NOW, "The same as in the request.")
KEY = (
    Field("EntityType", Kind.NAME, "room", "Type of the entity."),
    Field("EntityID", Kind.NAME, "r1", "The entity within its type."),
    Field("Scope", Kind.NAME, "temp", "The part of the entity's data."),
)
PROVIDER = Field("ProviderID", Kind.NAME, "p1", "Provider of the data.")
SIZE = Field("PayloadSize", Kind.SIZE, "", "Length of the payload.")
CONTENT = (
    PROVIDER,
    *KEY,
    Field("ValidBegin", Kind.TIME, NOW, "First instant at which the data are valid."),
    Field("ValidEnd", Kind.TIME, VALID, "First instant at which they are no longer valid.", after="ValidBegin"),
    Field("Payload", Kind.PAYLOAD, "degC=21.5", "The data; delimited by the size, so it may contain |."),
)
RECORD = (ENTRY, SIZE, *CONTENT)
OPERATION = Field("Operation", Kind.OPERATION, "ContextRequest", "Name of the request.")
REQUESTER = Field("Requested by", Kind.REQUESTER, CONSUMER_AT, "Address that the request came from.")
TTL = Field("TTL", Kind.TTL, "2", "Remaining hops.")
TARGET = Field(
    "Target", Kind.TARGET, "0123456789abcdef0123456789abcdef01234567", "Identifier of 160 bits of a broker or a key."
)
SEQUENCE = Field("Sequence", Kind.INTEGER, "1", "Assigned by the sender; the acknowledgement repeats it.")

REQUEST_HOPS = "One host:port a line, the consumer first; empty from the consumer."
ADDRESSES = "One host:port a line."
SEARCHES = "A real request is forwarded through the network; brokers on the way of its answer may keep replicas."
