"""JetStream as an engine: opens logs, and says and changes what it has. ``names`` says under which subjects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from overlay.log.node import LogUser
from overlay.log.rights import Granted, Rights
from overlay.log.spec import LogSpec
from overlay.log.topics import Record, Topic, partition_of
from overlay.runtime.logs.nats.asking import Asking, asking
from overlay.runtime.logs.nats.connection import NO_STREAM, Server, accepted, code_of
from overlay.runtime.logs.nats.log import ANSWER_S, NatsLog
from overlay.runtime.logs.nats.names import Names, delivered, deployment_of, pack, unpack
from overlay.runtime.logs.nats.protocol import Message
from overlay.runtime.logs.port import LogPort, NoUsers, newest_first

_NO_USERS: Final = (
    "NATS has its users and their permissions in the configuration of the server: add one for the application there, "
    "and give it the address with that user."
)


_BATCH: Final = 256
"""Records in one answer."""


class Nats:
    """An ``Engine``."""

    def __init__(self, url: str) -> None:
        """Raises ``WaxwingError``."""
        self._server = Server.of(url)
        self.where = self._server.where

    def open(self, spec: LogSpec, deployment: str, name: str, node: LogUser) -> LogPort:
        return NatsLog(spec, self._server, deployment, name, node)

    def erase(self, deployment: str) -> None:
        names = Names(deployment)
        with asking(self._server, ANSWER_S) as server:
            for stream in (names.log, names.state):
                answer = server.answer(f"STREAM.DELETE.{stream}")
                if code_of(answer) != NO_STREAM:
                    accepted(answer)

    def uncommitted(self, deployment: str) -> Iterator[Record]:
        return iter(())

    def grant(self, deployment: str, name: str, rights: Rights) -> Granted:
        raise NoUsers(_NO_USERS)

    def revoke(self, deployment: str, name: str) -> bool:
        raise NoUsers(_NO_USERS)

    def users(self, deployment: str) -> dict[str, Rights]:
        raise NoUsers(_NO_USERS)

    def partitions_read(self, group: str, topic: str, deployment: str = "") -> dict[str, int]:
        found: dict[str, int] = {}
        with asking(self._server, ANSWER_S) as server:
            streams: list[str] = []
            while True:
                answer = accepted(server.answer("STREAM.NAMES", offset=len(streams)))
                page = answer.get("streams") or []
                streams += page
                if not page or len(streams) >= answer["total"]:
                    break
            for stream in streams:
                if (known := deployment_of(stream)) is not None and deployment in ("", known):
                    subject = Names(known).leases((group, topic))
                    leases = server.last(stream, subject)
                    if leases.sequence:
                        found[known] = len(json.loads(leases.payload))
        return dict(sorted(found.items()))

    def newest(self, deployment: str, topic: str, partitions: int) -> dict[bytes, bytes]:
        names, about = Names(deployment), Topic(topic, partitions, is_compacted=True)
        with (
            asking(self._server, ANSWER_S) as server,
            _reading(server, names.state, names.records(about, "*")) as reader,
        ):
            return dict(unpack(message.payload) for message in reader.all())

    def newest_of(self, deployment: str, topic: str, partitions: int, key: bytes) -> bytes | None:
        names, about = Names(deployment), Topic(topic, partitions, is_compacted=True)
        subject = names.record(about, partition_of(key, partitions), key)
        with asking(self._server, ANSWER_S) as server:
            found = server.last(names.state, subject)
        return unpack(found.payload)[1] if found.sequence else None

    def latest(self, deployment: str, topic: str, partitions: int, most: int) -> list[Record]:
        names, about, found = Names(deployment), Topic(topic, partitions), list[Record]()
        with asking(self._server, ANSWER_S) as server:
            for number in range(partitions):
                subject = names.records(about, number)
                last = server.last(names.log, subject).sequence
                for message in _last(server, names.log, subject, last, most):
                    found.append(delivered(topic, number, message.reply, message.payload))
        return newest_first(found)

    def append(self, deployment: str, topic: str, partitions: int, key: bytes, value: bytes) -> None:
        names, about = Names(deployment), Topic(topic, partitions, is_compacted=True)
        subject = names.record(about, partition_of(key, partitions), key)
        with asking(self._server, ANSWER_S) as server:
            server.publish(subject, pack(key, value))

    def forget(self, deployment: str, group: str, topics: Iterable[str]) -> None:
        names = Names(deployment)
        with asking(self._server, ANSWER_S) as server:
            for topic in topics:
                for subject in (names.leases((group, topic)), names.committed((group, topic), "*")):
                    accepted(server.answer(f"STREAM.PURGE.{names.state}", filter=subject))


class _Reader:
    """A consumer of a stream that a survey reads once."""

    def __init__(self, server: Asking, stream: str, name: str, count: int) -> None:
        self._server, self._stream, self._name = server, stream, name
        self.count = count
        """Of the records that it will have."""

    def all(self) -> list[Message]:
        found: list[Message] = []
        wire, inbox = self._server.wire, self._server.wire.new_inbox()

        def is_there(count: int) -> bool:
            return len(found) >= count

        wire.listen(inbox, lambda message: None if message.status else found.append(message))
        for asked in range(0, self.count, _BATCH):
            wanted = min(asked + _BATCH, self.count)
            said = json.dumps({"batch": wanted - asked, "expires": 1_000_000_000}).encode()
            wire.publish(f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{self._name}", said, inbox)
            self._server.wait(partial(is_there, wanted))
        return found


@contextmanager
def _reading(server: Asking, stream: str, subject: str, since: int = 1) -> Iterator[_Reader]:
    """``since``: the sequence of the first record."""
    begins = {"deliver_policy": "by_start_sequence", "opt_start_seq": since}
    config = {"filter_subject": subject, "ack_policy": "none", **begins}
    made = accepted(server.answer(f"CONSUMER.CREATE.{stream}", stream_name=stream, config=config))
    try:
        yield _Reader(server, stream, made["name"], made["num_pending"])
    finally:
        server.answer(f"CONSUMER.DELETE.{stream}.{made['name']}")


def _last(server: Asking, stream: str, subject: str, last: int, most: int) -> list[Message]:
    """The newest records of a subject, of which ``last`` is the last. Others are between them, so it looks for the
    first one in longer and longer parts of the stream."""
    span = most
    while last:
        since = max(1, last - span + 1)
        with _reading(server, stream, subject, since) as reader:
            if reader.count >= most or since == 1:
                return reader.all()[-most:]
        span *= 16
    return []
