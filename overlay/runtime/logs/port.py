"""The two interfaces that an engine of the log implements, in a folder of its own: ``LogPort`` for the loop of a
process, ``Engine`` for those who open, survey and erase logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from overlay.core.errors import WaxwingError
from overlay.log.node import LogUser
from overlay.log.rights import Granted, Rights
from overlay.log.spec import LogSpec
from overlay.log.topics import Record
from overlay.runtime.polled import Polled


def counters() -> dict[str, int]:
    """Records appended and read, commits refused, connections lost, and the time without one; of any engine."""
    return {"log_appended": 0, "log_read": 0, "log_refused": 0, "log_lost": 0, "log_away_ms": 0}


def newest_first(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda one: (one.appended_us, one.position), reverse=True)


class LogPort(Polled, Protocol):
    """Its counters all begin with ``log_``. Its ``close`` leaves the groups, after what was appended and committed has
    been sent."""

    denied: dict[str, str]
    """With ``LogSpec.gives_up``: the topics that the engine's user may not use, with a sentence. The empty topic: the
    engine does not know the user any more. Whoever reads it removes what may have changed."""

    def set_cut(self, is_cut: bool, now: int) -> None:
        """A fault begins or ends in which this process cannot reach the log."""
        ...

    def set_delay(self, delay_ns: int) -> None:
        """A fault: what is appended leaves so much later."""
        ...


class Denied(WaxwingError):
    """The engine's user may not do this, or the engine does not know the user."""


class NoUsers(WaxwingError):
    """An engine has no users of whom a log could have some of its own; the message says what to do instead."""


class Engine(Protocol):
    """An engine at an address. All but ``open`` wait for its answer, and raise ``OSError`` or ``WaxwingError`` if it is
    away."""

    where: str
    """Host and port, without secrets."""

    def open(self, spec: LogSpec, deployment: str, name: str, node: LogUser) -> LogPort:
        """``deployment`` keeps the logs of several deployments apart; ``name`` is that of the process or client."""
        ...

    def erase(self, deployment: str) -> None:
        """All that it has of a deployment."""
        ...

    def uncommitted(self, deployment: str) -> Iterator[Record]:
        """The records that a group has not committed, of each group that has begun to read. None where the engine
        cannot say: they count as lost then, not as late."""
        ...

    def partitions_read(self, group: str, topic: str, deployment: str = "") -> dict[str, int]:
        """The deployments in which this group reads this topic: by id, how many partitions the topic has.
        ``deployment``: only this one, for users who may not see others."""
        ...

    def newest(self, deployment: str, topic: str, partitions: int) -> dict[bytes, bytes]:
        """The newest value of each key of a compacted topic."""
        ...

    def newest_of(self, deployment: str, topic: str, partitions: int, key: bytes) -> bytes | None:
        """The newest value of a key; ``None``: it has none."""
        ...

    def latest(self, deployment: str, topic: str, partitions: int, most: int) -> list[Record]:
        """The newest records of a topic that is not compacted, at most so many of each partition, the newest first."""
        ...

    def append(self, deployment: str, topic: str, partitions: int, key: bytes, value: bytes) -> None:
        """A record of a compacted topic."""
        ...

    def grant(self, deployment: str, name: str, rights: Rights) -> Granted:
        """A user ``name`` who may do this in a deployment and nothing else, until it is erased; one that there is gets
        these rights and another password. Raises ``NoUsers``, as do the next ones, if the engine cannot."""
        ...

    def revoke(self, deployment: str, name: str) -> bool:
        """Whether there was this user, whose connections end."""
        ...

    def users(self, deployment: str) -> dict[str, Rights]:
        """What was granted, by name, in their order."""
        ...

    def forget(self, deployment: str, group: str, topics: Iterable[str]) -> None:
        """A group that will not read these topics again."""
        ...
