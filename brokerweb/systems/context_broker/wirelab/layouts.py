"""Every message of the protocol, field by field, as data.

Counterpart: ``overlay.systems.context_broker.broker.wire`` reads and writes them by hand, and knows nothing of this; a
test holds the two together. Sources: wire-protocol sections 2 and 4, ``docs/extensions.md``.
"""

from __future__ import annotations

from brokerweb.systems.context_broker.wirelab.kinds import Field, Kind, Layout, Tail

NOW = "now"
_VALID_S = 120
_SENT = Field("Timestamp", Kind.TIME, NOW, "When it was sent, Unix milliseconds.")
_QUERY = Field("Timestamp", Kind.TIME, NOW, "The consumer's; kept on the way, since it names the query.")
_ENTRY = Field("Timestamp", Kind.TIME, NOW, "Of the message that stored the entry; kept on the way.")
_OF_QUESTION = Field("Timestamp", Kind.TIME, NOW, "That of the question.")
_KEY = (
    Field("EntityType", Kind.NAME, "room"),
    Field("EntityID", Kind.NAME, "r1"),
    Field("Scope", Kind.NAME, "temp"),
)
_PROVIDER = Field("ProviderID", Kind.NAME, "p1")
_SIZE = Field("PayloadSize", Kind.SIZE, "", "Bytes of the payload; left open, it is counted.")
_VALIDITY = (
    Field("ValidBegin", Kind.TIME, NOW, "The first instant at which the data are valid."),
    Field("ValidEnd", Kind.TIME, f"now+{_VALID_S}s", "The first instant at which they are no longer valid."),
)
_PAYLOAD = Field("Payload", Kind.PAYLOAD, "degC=21.5", "Taken by its size, so it may hold |.")
_CONTENT = (_SIZE, _PROVIDER, *_KEY, *_VALIDITY, _PAYLOAD)
_BROKER = "127.0.0.1:7001"
_CONSUMER = "127.0.0.1:40000"
_HOPS = f"{_CONSUMER}\n{_BROKER}"
_HOPS_HELP = "One host:port a line, the consumer first. None: it comes from the consumer."
_REQUESTER = Field("Requested by", Kind.REQUESTER, _CONSUMER, "The address that the request came from.")
_OPERATION = Field("Operation", Kind.OPERATION, "ContextRequest")
_TTL = Field("TTL", Kind.TTL, "2", "Hops that it still goes, 1 to 255.")
_TARGET = Field("Target", Kind.TARGET, "0123456789abcdef0123456789abcdef01234567", "160 bits, 40 hexadecimal digits.")
_SEQUENCE = Field("Sequence", Kind.INTEGER, "1", "Counted by its sender; the acknowledgement names it.")
_STRUCTURED: dict[str, int | bool | str] = {"arm": "structured"}
_BROKERS = "broker → broker"

_ALL = (
    Layout(
        0,
        "StartNeighborsMonitoring",
        "controller → broker",
        "Orders a broker to ping its neighbours and drop those that are silent.",
        (_SENT,),
        changes="The broker watches its neighbours from now on.",
    ),
    Layout(1, "Ping", "anyone → broker", "Asks whether a broker is there; always answered with 9.", (_SENT,)),
    Layout(
        2,
        "ContextUpdateAdvertisement",
        "provider → broker",
        "Stores data about an entity and scope.",
        (_SENT, _SIZE, Field("Flag", Kind.FLAG, "A", "A advertisement, U update."), *_CONTENT[1:]),
        changes="The broker stores these data.",
    ),
    Layout(
        3,
        "ContextRequest",
        "consumer → broker → broker",
        "Asks for valid data about an entity and scope; what is not here is looked for at other brokers.",
        (_QUERY, *_KEY),
        tail=Tail.HOPS,
        tail_help=_HOPS_HELP,
        changes="A real request goes through the network; replicas may be kept on the way of its answer.",
    ),
    Layout(
        4,
        "ContextResponse",
        "broker → broker → consumer",
        "The data, on their way back along the hops.",
        (_ENTRY, *_CONTENT),
        tail=Tail.MARKED_HOPS,
        tail_default=f"{_CONSUMER}\n{_BROKER} *",
        tail_help="One host:port a line, the consumer first; * behind one: its broker keeps a replica.",
    ),
    Layout(
        5,
        "Ack",
        "broker → requester",
        "Received (101) or done (102).",
        (
            _SENT,
            Field("Word", Kind.WORD, "ACK"),
            Field("Status", Kind.ACK_STATUS, "101"),
            _OPERATION,
            _REQUESTER,
        ),
    ),
    Layout(
        6,
        "Nack",
        "broker → requester, or broker → broker",
        "Refused, or not found; of a request it goes back along the hops.",
        (
            Field("Timestamp", Kind.TIME, NOW, "Of the message refused; of a request the consumer's."),
            Field("Word", Kind.WORD, "NACK"),
            Field("Status", Kind.NACK_STATUS, "202"),
            _OPERATION,
            _REQUESTER,
        ),
        tail=Tail.HOPS,
        tail_help="One host:port a line, those that the request had. None: it is for the consumer.",
    ),
    Layout(
        7,
        "BrokerLeaving",
        "controller → broker → neighbours",
        "Orders a broker to leave, or, with *, says that a neighbour leaves.",
        (_SENT,),
        tail=Tail.STAR,
        tail_help="* between brokers, nothing from a controller.",
        changes="The broker leaves its network.",
    ),
    Layout(
        8,
        "BrokerJoining",
        "controller → broker → named brokers",
        "Orders a broker to become a neighbour of those named, or, with *, asks one of them.",
        (_SENT,),
        tail=Tail.ADDRESSES_STAR,
        tail_default=_BROKER,
        tail_help="One host:port a line, at least one; a line with * between brokers.",
        changes="The broker gets new neighbours.",
    ),
    Layout(
        9,
        "PingResponse",
        "broker → pinger",
        "A broker is there, and this is the address it is known by.",
        (_SENT, Field("Word", Kind.WORD, "Ctx_Broker"), Field("BrokerAddress", Kind.ADDRESS, _BROKER)),
    ),
    Layout(
        16,
        "Lookahead",
        _BROKERS,
        "The shallow flood around a step of a walk; answered with 4, or by silence.",
        (_QUERY, _TTL, *_KEY),
        tail=Tail.HOPS,
        tail_default=_HOPS,
        tail_help=_HOPS_HELP,
        changes="A real request is flooded through the network.",
    ),
    Layout(
        17,
        "BrokerGone",
        _BROKERS,
        "A leave or a detected crash, flooded.",
        (_SENT, _TTL, Field("Address", Kind.ADDRESS, _BROKER, "Of the broker that is gone.")),
        changes="Its receivers may drop the broker named until it answers a ping.",
        needs={"gone_ttl": 2},
    ),
    Layout(18, "NeighborsRequest", "anyone → broker", "Asks for a broker's neighbours.", (_SENT,)),
    Layout(
        19,
        "NeighborsResponse",
        "broker → asker",
        "A broker's neighbours.",
        (_SENT,),
        tail=Tail.ADDRESSES,
        tail_default=f"{_BROKER}\n127.0.0.1:7002",
        tail_help="One host:port a line.",
    ),
    Layout(20, "StatsRequest", "anyone → broker", "Asks for a broker's counters.", (_SENT,)),
    Layout(
        21,
        "StatsResponse",
        "broker → asker",
        "A broker's counters.",
        (_SENT, Field("Counters", Kind.COUNTERS, "entries=1;bytes=42", "name=value, separated by ;")),
    ),
    Layout(
        22,
        "HopData",
        _BROKERS,
        "Carries any message; sent again until 23 acknowledges it.",
        (_SENT, _SEQUENCE, Field("Message", Kind.MESSAGE, "1|0", "A whole message.")),
        changes="The broker does what the message inside says.",
        needs={"hop_ack": True},
    ),
    Layout(
        23,
        "HopAck",
        _BROKERS,
        "Acknowledges a 22.",
        (_SENT, _SEQUENCE),
        needs={"hop_ack": True},
    ),
    Layout(
        24,
        "IndirectPing",
        _BROKERS,
        "Asks a broker to ping another one.",
        (_SENT, Field("Address", Kind.ADDRESS, _BROKER, "Whom to ping.")),
        needs={"indirect_probes": 2},
    ),
    Layout(
        25,
        "IndirectPingResponse",
        _BROKERS,
        "That other one answered.",
        (_OF_QUESTION, Field("Address", Kind.ADDRESS, _BROKER, "Who answered.")),
        needs={"indirect_probes": 2},
    ),
    Layout(
        26,
        "FindBrokers",
        _BROKERS,
        "Asks for the brokers closest to an identifier.",
        (_SENT, _TARGET),
        tail=Tail.STAR,
        tail_help="*: the asker does not know the asked one yet.",
        changes="The broker may take the asker into its contacts.",
        needs=_STRUCTURED,
    ),
    Layout(
        27,
        "ClosestBrokers",
        _BROKERS,
        "The answer to 26, and to 28 where there are no data.",
        (_OF_QUESTION, _TARGET),
        tail=Tail.ADDRESSES,
        tail_default=_BROKER,
        tail_help="One host:port a line.",
        needs=_STRUCTURED,
    ),
    Layout(
        28,
        "FindData",
        _BROKERS,
        "Asks for data, else for the brokers closest to them.",
        (_SENT, *_KEY),
        needs=_STRUCTURED,
    ),
    Layout(
        29,
        "DataFound",
        _BROKERS,
        "The data, and the brokers closest to them.",
        (_ENTRY, *_CONTENT),
        tail=Tail.ADDRESSES,
        tail_default=_BROKER,
        tail_help="One host:port a line.",
        needs=_STRUCTURED,
    ),
    Layout(
        30,
        "StoreData",
        _BROKERS,
        "Hands over an entry to keep.",
        (_ENTRY, *_CONTENT),
        changes="The broker stores these data.",
        needs=_STRUCTURED,
    ),
    Layout(
        31,
        "DataStored",
        _BROKERS,
        "An entry of 30 is kept.",
        (_OF_QUESTION, _PROVIDER, *_KEY),
        needs=_STRUCTURED,
    ),
    Layout(
        32,
        "QuietRequest",
        "consumer → broker",
        "A 3 of which nothing is acknowledged.",
        (_QUERY, *_KEY),
        tail=Tail.HOPS,
        tail_help=_HOPS_HELP,
        changes="A real request goes through the network; replicas may be kept on the way of its answer.",
    ),
    Layout(
        33,
        "ReplicaRefresh",
        _BROKERS,
        "A newer value for a replica.",
        (_ENTRY, *_CONTENT),
        changes="The broker replaces the replica that it has.",
        needs={"replica_refresh": True},
    ),
    Layout(
        34,
        "ReplicaConfirm",
        _BROKERS,
        "The value of a replica is still the newest.",
        (
            Field("Timestamp", Kind.TIME, NOW, "When the provider's broker said so; kept on the way."),
            _PROVIDER,
            *_KEY,
            Field("Stored", Kind.TIME, NOW, "Timestamp of the message that stored the value."),
        ),
        changes="The broker keeps its replica of that value for another lease; it drops one of an older value.",
        needs={"replica_refresh": True},
    ),
)
LAYOUTS: dict[int, Layout] = {layout.code: layout for layout in _ALL}
