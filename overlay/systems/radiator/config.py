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

    codec: str = setting("gzip", choices=CODECS, help="Compression of contexts and blobs.")
    chain_percent: float = setting(
        0.0, unit="%", low=0, high=100, help="Length of a chain, as a share of chain_base; 0 pushes directly."
    )
    chain_base: str = setting(
        "clients",
        choices=("clients", "recipients"),
        help="What chain_percent is a share of. clients: all reachable p2p clients; recipients: the p2p recipients.",
    )
    report_every: int = setting(64, unit="hops", low=0, high=10_000, help="Hops between PROGRESS reports; 0: none.")
    chain_wait_s: float = setting(5.0, unit="s", low=0.1, high=600, help="Silence before a chain is injected again.")
    chain_attempts: int = setting(2, low=1, high=10, help="Injections after silence, before direct pushes.")
    rto_ms: int = setting(200, unit="ms", low=1, high=60_000, help="Wait before the first repeat; it doubles.")
    tries: int = setting(4, low=1, high=10, help="How often a datagram is sent in all.")
    segment_bytes: int = setting(1_200, unit="bytes", low=200, high=60_000, help="Bytes of a blob in one datagram.")
    max_blob_bytes: int = setting(
        4 * MIB, unit="bytes", low=1_024, high=64 * MIB, help="A blob before compression; a larger aggregate is halved."
    )
    alive_s: float = setting(30.0, unit="s", low=0.1, high=86_400, help="A client that sent nothing sends ALIVE.")
    silence_s: float = setting(120.0, unit="s", low=0.1, high=86_400, help="A client without receipt registers again.")
    forget_after_s: float = setting(600.0, unit="s", low=0.1, high=86_400, help="Unreachable clients are deleted.")
    seen_s: float = setting(120.0, unit="s", low=0.1, high=86_400, help="Clients remember propagations.")
    uplink_bytes_per_s: int = setting(0, unit="bytes/s", low=0, high=4 * GIB, help="The server's uplink; 0: unlimited.")
    uplink_queue_bytes: int = setting(
        16 * MIB, unit="bytes", low=1, high=4 * GIB, help="Above it, the server answers busy."
    )
    retained_max: int = setting(100_000, low=1, high=10_000_000, help="Messages retained in all; above it: busy.")
    accounting: str = setting(
        "datagram",
        choices=("datagram", "http"),
        help="What a datagram counts: its bytes and headers, or those of HTTP.",
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
