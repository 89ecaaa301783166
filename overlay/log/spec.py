"""The log that a system asks for (seed 004, contract, sections 2 and 8)."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.errors import InvalidSetting
from overlay.core.node import MILLISECOND, SECOND
from overlay.log.topics import Topic

VALKEY, NATS, KAFKA, MEMORY = "valkey", "nats", "kafka", "memory"
ENGINES = (VALKEY, NATS, KAFKA, MEMORY)
DURABILITIES = ("none", "everysec", "always")

MOST_TOPICS = 10_000
"""Of one log, so that names from outside cannot fill it."""
APPEND_DELAY_NS = round(0.3 * MILLISECOND)
"""From an append to a durable record that readers have, in virtual time without a measured delay."""


@dataclass(frozen=True, slots=True)
class LogSpec:
    """``System.log_of`` returns it. In virtual time the log is always in memory."""

    topics: tuple[Topic, ...]
    """Those with several partitions or compacted. Any other topic has one partition and is not compacted."""
    engine: str = VALKEY
    """One of ``ENGINES``; ``MEMORY`` in virtual time only."""
    member_timeout_s: float = 2.0
    """The partitions of a member that is silent for so long go to others."""
    retention_s: float = 7_200.0
    """Older records are dropped, except in compacted topics."""
    durability: str = "everysec"
    """When a record is durable: ``none`` in the engine's memory, ``everysec`` on its disk within a second, ``always``
    on its disk before it says so."""
    servers: str = ""
    """Addresses of an existing engine; empty: the instance that this installation starts."""
    most_records: int = 1 << 20
    """Of one partition; beyond, the oldest are dropped."""

    gives_up: bool = False
    """Whether what the engine's user may not do is given up, and told (``LogPort.denied``): an application that is
    limited to some topics. Otherwise it is tried again until the user may, so that servers lose nothing."""

    def __post_init__(self) -> None:
        for name, value, known in (("engine", self.engine, ENGINES), ("durability", self.durability, DURABILITIES)):
            if value not in known:
                raise InvalidSetting(name, f"must be one of {', '.join(known)}, not {value!r:.40}")
        for name, least in (("member_timeout_s", self.member_timeout_s), ("retention_s", self.retention_s)):
            if not least > 0:
                raise InvalidSetting(name, f"must be above 0, not {least:g}")
        names = [topic.name for topic in self.topics]
        if len(set(names)) < len(names):
            raise InvalidSetting("topics", "names a topic twice")

    @property
    def member_timeout_ns(self) -> int:
        return round(self.member_timeout_s * SECOND)

    @property
    def beat_ns(self) -> int:
        """Between two heartbeats of a member; it also gives and takes partitions then."""
        return self.member_timeout_ns // 4

    def by_name(self) -> dict[str, Topic]:
        return {topic.name: topic for topic in self.topics}
