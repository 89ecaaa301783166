"""JetStream as an engine: opens logs, and says and changes what it has. ``names`` says under which subjects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from overlay.log.node import LogUser
from overlay.log.rights import Granted, Rights
from overlay.log.spec import LogSpec
from overlay.log.topics import Record, Topic, partition_of
from overlay.runtime.logs.nats.asking import asking
from overlay.runtime.logs.nats.connection import NO_STREAM, Server, accepted, code_of
from overlay.runtime.logs.nats.log import ANSWER_S, NatsLog
from overlay.runtime.logs.nats.names import Names, deployment_of, pack, unpack
from overlay.runtime.logs.nats.protocol import Message
from overlay.runtime.logs.port import LogPort, NoUsers

_NO_USERS: Final = (
    "NATS has its users and their permissions in the configuration of the server: add one for the application there, "
    "and give it the address with that user."
)


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
        found: dict[bytes, bytes] = {}
        came = 0

        def arrived(message: Message) -> None:
            nonlocal came
            if not message.status:
                came += 1
                key, value = unpack(message.payload)
                found[key] = value

        def is_there(number: int) -> bool:
            return came >= number

        with asking(self._server, ANSWER_S) as server:
            config = {"filter_subject": names.records(about, "*"), "deliver_policy": "all", "ack_policy": "none"}
            create = f"CONSUMER.CREATE.{names.state}"
            made = accepted(server.answer(create, stream_name=names.state, config=config))
            inbox = server.wire.new_inbox()
            server.wire.listen(inbox, arrived)
            total, asked = made["num_pending"], 0
            while asked < total:
                batch = min(256, total - asked)
                asked += batch
                said = json.dumps({"batch": batch, "expires": 1_000_000_000}).encode()
                server.wire.publish(f"$JS.API.CONSUMER.MSG.NEXT.{names.state}.{made['name']}", said, inbox)
                server.wait(partial(is_there, asked))
            server.answer(f"CONSUMER.DELETE.{names.state}.{made['name']}")
        return found

    def newest_of(self, deployment: str, topic: str, partitions: int, key: bytes) -> bytes | None:
        names, about = Names(deployment), Topic(topic, partitions, is_compacted=True)
        subject = names.record(about, partition_of(key, partitions), key)
        with asking(self._server, ANSWER_S) as server:
            found = server.last(names.state, subject)
        return unpack(found.payload)[1] if found.sequence else None

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
