"""The settings of transport: registration, propagation, chains and the uplink. Server and clients share them."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from overlay.core.node import MILLISECOND, SECOND
from overlay.core.settings import check, setting
from overlay.systems.radiator.wire.compression import CODECS

MAX_SEGMENTS = 65_535
MAX_CLIENTS = 100_000
GIB, MIB = 1 << 30, 1 << 20


@dataclass(frozen=True)
class Transport:
    """How registrations, contexts and propagations travel."""

    codec: str = setting(
        "gzip",
        choices=CODECS,
        help="Compression of contexts and blobs. none: the fastest; gzip: as in the paper; dictionary: deflate with a "
        "dictionary that server and clients have, the smallest for short messages.",
    )
    chain_percent: float = setting(
        0.0,
        unit="%",
        low=0,
        high=100,
        zero="off",
        help="Length of a chain of clients, as a share of chain_base. Longer chains spare the server's uplink and take "
        "longer; 0 pushes to each client directly.",
    )
    chain_base: str = setting(
        "clients",
        choices=("clients", "recipients"),
        help="What chain_percent is a share of. clients: all reachable clients that accept pushes from others; "
        "recipients: those of the propagation.",
    )
    report_every: int = setting(
        64,
        unit="hops",
        low=0,
        high=10_000,
        zero="off",
        help="Hops between reports to the server. Frequent reports cost datagrams and make repairs start closer to "
        "the failure.",
    )
    chain_wait_s: float = setting(
        5.0,
        unit="s",
        low=0.1,
        high=600,
        help="Silence after which the server repairs a chain. A short wait also repairs chains that are only slow.",
    )
    chain_attempts: int = setting(
        2, low=1, high=10, help="Repairs of a silent chain before the server pushes to each member directly."
    )
    rto_ms: int = setting(
        200,
        unit="ms",
        low=1,
        high=60_000,
        help="Wait for an acknowledgement before the first repeat; it doubles. It should exceed the round trip.",
    )
    tries: int = setting(
        4,
        low=1,
        high=10,
        help="Maximum transmissions of a datagram. More find fewer clients unreachable by mistake, later.",
    )
    segment_bytes: int = setting(
        1_200,
        unit="bytes",
        low=200,
        high=60_000,
        help="Maximum bytes of a blob in one datagram. Above about 1,300, datagrams fragment.",
    )
    max_blob_bytes: int = setting(
        4 * MIB, unit="bytes", low=1_024, high=64 * MIB, help="A blob before compression; a larger aggregate is halved."
    )
    alive_s: float = setting(
        30.0, unit="s", low=0.1, high=86_400, help="A client that sent nothing for so long shows that it is there."
    )
    silence_s: float = setting(
        120.0, unit="s", low=0.1, high=86_400, help="A client that received nothing for so long registers again."
    )
    forget_after_s: float = setting(
        600.0,
        unit="s",
        low=0.1,
        high=86_400,
        help="An unreachable client is deleted after this time, and loses its place.",
    )
    seen_s: float = setting(
        120.0,
        unit="s",
        low=0.1,
        high=86_400,
        help="How long clients remember propagations, so that repeats are not delivered again.",
    )
    uplink_bytes_per_s: int = setting(
        0,
        unit="bytes/s",
        low=0,
        high=4 * GIB,
        zero="unlimited",
        help="Capacity of the server's uplink, counted by accounting.",
    )
    uplink_queue_bytes: int = setting(
        16 * MIB,
        unit="bytes",
        low=1,
        high=4 * GIB,
        help="Queue of the uplink above which the server refuses messages. A long queue trades refusals for delay.",
    )
    retained_max: int = setting(
        100_000,
        low=1,
        high=10_000_000,
        help="Messages retained in all, above which the server refuses further ones. Half of them is for whoever comes "
        "first; of the other half, each source has an equal share.",
    )
    accounting: str = setting(
        "datagram",
        choices=("datagram", "http"),
        help="How bytes are counted. datagram: as sent, with UDP and IP headers; http: as the requests of the paper.",
    )
    trace_one_in: int = setting(
        100,
        unit="messages",
        low=0,
        high=1_000_000,
        zero="off",
        help="One message in this many is traced hop by hop, and every chain that is repaired. What is sent stays the "
        "same. 1 traces every message, for short runs; 0 traces nothing.",
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def codec_number(self) -> int:
        return CODECS.index(self.codec)

    @property
    def most_bytes(self) -> int:
        """The longest blob before compression that is certain to fit in the segments of a push."""
        return min(self.max_blob_bytes, MAX_SEGMENTS * self.segment_bytes // 1_001 * 1_000)

    def repeat_after(self, tries: int) -> int:
        """Nanoseconds from the try of this number, from 1, to the next one."""
        return int(self.rto_ms * MILLISECOND) << (tries - 1)


def ns(seconds: float) -> int:
    return ceil(seconds * SECOND)
