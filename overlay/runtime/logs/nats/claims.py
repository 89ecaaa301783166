"""The committed positions of a member's partitions in JetStream. Only the owner moves them.

Each partition of a group has a message with the owner's generation and its position. An owner begins by writing it, and
each write names the sequence of the one before; so what an earlier owner writes later is refused. Of one partition one
write is under way at a time, and only the newest position waits.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from overlay.log.groups import Key
from overlay.log.member import Commit, Member, Standing
from overlay.log.topics import Topic
from overlay.runtime.logs.nats.connection import Connection, Stored
from overlay.runtime.logs.nats.names import Names, unix_us


@dataclass(slots=True, eq=False)
class _Chain:
    generation: int
    sequence: int | None
    """Of its last write; ``None``: unknown, since the connection was lost."""
    under_way: Commit | None = None


class Claims:
    def __init__(self, member: Member, names: Names, on_refused: Callable[[], None]) -> None:
        self._member, self._names, self._on_refused = member, names, on_refused
        self._chains: dict[tuple[Key, int], _Chain] = {}

    def lost(self) -> None:
        """The connection is: what was under way may have been written, or not."""
        for chain in self._chains.values():
            chain.sequence = None
            if chain.under_way is not None:
                self._member.keep([chain.under_way])
                chain.under_way = None

    # ---- begin

    def claim(
        self,
        wire: Connection,
        key: Key,
        topic: Topic,
        partition: int,
        generation: int,
        is_newest: bool,
        then: Callable[[Standing | None], None],
    ) -> None:
        """Own a partition from now on. ``is_newest``: a group without a position begins after the last record.
        ``then(None)``: another has a newer lease."""

        def end_known(last: Stored) -> None:
            wire.last(partial(before_known, last), self._names.state, subject)

        def before_known(last: Stored, before: Stored) -> None:
            newest, committed = json.loads(before.payload) if before.sequence else (0, None)
            if newest > generation:
                then(None)
                return
            end = last.sequence + 1 if last.sequence else 0
            if committed is None and is_newest:
                committed = end
            standing = Standing(committed, end, unix_us(last.time) if last.sequence else -1)
            written = json.dumps([generation, committed]).encode()
            wire.replace(partial(claimed, standing), subject, before.sequence, written)

        def claimed(standing: Standing, sequence: int | None) -> None:
            if sequence is None:  # the owner before has just committed
                begin()
                return
            self._chains[key, partition] = _Chain(generation, sequence)
            then(standing)

        def begin() -> None:
            wire.last(end_known, self._names.stream(topic), self._names.records(topic, partition))

        subject = self._names.committed(key, partition)
        begin()

    # ---- commit

    def send(self, wire: Connection) -> None:
        """What the member has to commit."""
        waiting = []
        for commit in self._member.commits():
            place = (commit.position.group, commit.position.topic), commit.position.partition
            chain = self._chains.get(place)
            if chain is None or chain.generation != commit.generation:
                self._on_refused()
            elif chain.under_way is not None:
                waiting.append(commit)
            else:
                self._send(wire, chain, commit, self._names.committed(*place))
        self._member.keep(waiting)

    def _send(self, wire: Connection, chain: _Chain, commit: Commit, subject: str) -> None:
        chain.under_way = commit

        def write(sequence: int) -> None:
            said = json.dumps([commit.generation, commit.position.position]).encode()
            wire.replace(written, subject, sequence, said)

        def written(sequence: int | None) -> None:
            chain.under_way = None
            chain.sequence = sequence
            if sequence is None:
                self._on_refused()

        def known(before: Stored) -> None:
            generation = json.loads(before.payload)[0] if before.sequence else 0
            if generation == commit.generation:
                write(before.sequence)
            else:
                written(None)

        if chain.sequence is None:
            wire.last(known, self._names.state, subject)
        else:
            write(chain.sequence)
