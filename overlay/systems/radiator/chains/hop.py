"""A client's part in propagation: receive a push, deliver it once, forward it once per attempt (seed 003, 3.2)."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.core.timers import earliest
from overlay.systems.radiator.accounting import ack_bytes, push_bytes
from overlay.systems.radiator.chains.arrivals import Arrivals, ack_of
from overlay.systems.radiator.chains.blobs import Opened, Place, open_blob
from overlay.systems.radiator.chains.reports import Reports
from overlay.systems.radiator.chains.transfers import Transfer, Transfers
from overlay.systems.radiator.config import Transport, ns
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import encode
from overlay.systems.radiator.wire.proofs import is_authentic


@dataclass(slots=True)
class Seen:
    """A propagation that was delivered."""

    heard_at: int
    attempts: set[tuple[int, int]] = field(default_factory=set)
    """By chain and attempt: what was forwarded."""


class Onward(NamedTuple):
    """A push that is being forwarded."""

    push: m.Push
    """As it was received."""
    server: Address


class Delivery(NamedTuple):
    """What was received, as its callback gets it."""

    epoch: int
    propagation: int
    body: bytes
    contexts: Sequence[Any]
    source: Address
    """The server or the client that pushed it."""
    chain: int
    """``messages.DIRECT`` if it is in none."""
    position: int


class Hop:
    """``read`` parses a body into contexts and raises ``WireError``; ``deliver`` is called once per propagation.

    ``is_client`` says whether an address that pushes is another client's.
    """

    def __init__(
        self,
        config: Transport,
        instance: int,
        *,
        read: Callable[[bytes], Sequence[Any]],
        deliver: Callable[[Delivery], None],
        send: Callable[[bytes, Address], None],
        is_client: Callable[[Address], bool],
    ) -> None:
        self._config, self._instance, self._is_client = config, instance, is_client
        self._remembers = ns(config.seen_s)
        self._read, self._deliver, self._send = read, deliver, send
        self._id, self._epoch, self._key = "", 0, b""
        self._is_leaving = False
        self.is_p2p = False
        """Whether the client has ever accepted pushes of clients. Otherwise all are the server's."""
        self._seen: OrderedDict[tuple[int, int], Seen] = OrderedDict()
        """By epoch and propagation, the longest silent first."""
        self._arrivals = Arrivals(ns(config.chain_wait_s), config.max_blob_bytes, is_client)
        self._transfers = Transfers(config, self._send_part)
        self._reports = Reports(config, lambda report, server: self._send(encode(report), server))
        self.hears: Callable[[str], bool] = lambda id: True
        """Whether pushes of the client with this id arrive. Only faults say no."""
        self.on_repeat: Callable[[m.Push], None] | None = None
        """Called with the header of a forwarded push that is sent again."""
        self.counts: Counter[str] = Counter()
        """``delivered``, ``duplicates_suppressed``, ``refused``, ``client_to_client_bytes``: pushes and their ACKs."""

    def admit(self, id: str, epoch: int, key: bytes) -> None:
        """The server has registered this client: pushes of this epoch are accepted."""
        self._id, self._epoch, self._key = id, epoch, key

    def leave(self) -> None:
        """Acknowledge nothing new; what is acknowledged is still forwarded."""
        self._is_leaving = True
        self._arrivals.clear()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being forwarded or reported."""
        return not self._transfers and not self._reports

    # ---- datagrams

    def receive_push(self, push: m.Push, source: Address, now: int) -> None:
        if not self._key or push.epoch != self._epoch:
            self.counts["refused"] += 1
            return
        seen = self._seen.get((push.epoch, push.propagation))
        if seen is not None and (push.chain, push.attempt) in seen.attempts:
            self.counts["duplicates_suppressed"] += 1
            self._remember(push, now)
            self._acknowledge(push, source)
        elif not self._is_leaving:
            blob, ack = self._arrivals.receive(push, source, now)
            if ack is not None:
                self._send_to(ack, source, is_whole=False)
            if blob is not None:
                self._receive_blob(push, blob, source, now)

    def _receive_blob(self, push: m.Push, blob: bytes, source: Address, now: int) -> None:
        try:
            opened, following = self._open(push, blob, source)
            contexts = self._read(opened.body)
        except WireError:
            self.counts["refused"] += 1
            return
        self._acknowledge(push, source)
        if self._remember(push, now):
            self.counts["delivered"] += 1
            where = source, push.chain, push.position
            self._deliver(Delivery(push.epoch, push.propagation, opened.body, contexts, *where))
        else:
            self.counts["duplicates_suppressed"] += 1
        if push.chain != m.DIRECT:
            self._forward(push, blob, opened.server, following, now)

    def _open(self, push: m.Push, blob: bytes, source: Address) -> tuple[Opened, Place | None]:
        """And the next member. Raises ``WireError`` for a push that is not from the group, or not for this client."""
        if not is_authentic(push.mac, self._key, push.epoch, push.propagation, push.chain, blob):
            raise WireError("wrong MAC")
        opened = open_blob(blob, push.codec, push.chain, self._config.max_blob_bytes)
        if len(opened.members) != push.length:
            raise WireError(f"a chain of {len(opened.members)}, not {push.length}")
        if push.length and opened.place(push.position).id != self._id:
            raise WireError(f"for {opened.place(push.position).id[:60]}")
        if self._is_client(source):
            self._check_sender(push, opened, source)
        return opened, opened.place(push.position + 1) if push.position + 1 < push.length else None

    def _check_sender(self, push: m.Push, opened: Opened, source: Address) -> None:
        """Every client has the key: so that none can push as it likes, only the one before in a chain may."""
        if not self.is_p2p or not push.length or not push.position:
            raise WireError(f"from {source}, not from the server")
        before = opened.place(push.position - 1)
        if (before.host, before.port) != source:
            raise WireError(f"from {source}, not from {before.host}:{before.port}")
        if not self.hears(before.id):
            raise WireError("cut off from its sender")

    def _remember(self, push: m.Push, now: int) -> bool:
        """Returns whether the propagation is new."""
        key = (push.epoch, push.propagation)
        is_new = key not in self._seen
        seen = self._seen.setdefault(key, Seen(now))
        seen.heard_at = now
        seen.attempts.add((push.chain, push.attempt))
        self._seen.move_to_end(key)
        return is_new

    def _forward(self, push: m.Push, blob: bytes, server: Address, following: Place | None, now: int) -> None:
        position, every = push.position, self._config.report_every
        if following is None:
            self._report(m.Done, push, position, server, now)
            return
        if every and (position + 1) % every == 0:
            self._report(m.Progress, push, position, server, now)
        onward = push._replace(position=position + 1, segment=0, part=b"")
        self._transfers.begin(onward, blob, (following.host, following.port), Onward(push, server), now)

    def _report(
        self, kind: type[m.Done | m.Failed | m.Progress], push: m.Push, position: int, server: Address, now: int
    ) -> None:
        numbers = push.epoch, push.propagation, push.chain, push.attempt
        self._reports.begin(kind(*numbers, position, self._instance), server, now)

    def receive_ack(self, ack: m.Ack, source: Address, now: int) -> None:
        self._transfers.acknowledge(ack, source, now)

    def receive_noted(self, noted: m.Noted) -> None:
        self._reports.note(noted)

    # ---- time

    def handle_timer(self, now: int) -> None:
        for onward in self._transfers.handle_timer(now):
            self._report(m.Failed, onward.push, onward.push.position + 1, onward.server, now)
        self._reports.handle_timer(now)
        self._arrivals.expire(now)
        while (timer := self._forgets_at()) is not None and timer <= now:
            self._seen.popitem(last=False)

    def next_timer(self) -> int | None:
        transfers, reports, arrivals = self._transfers, self._reports, self._arrivals
        return earliest(transfers.next_timer(), reports.next_timer(), arrivals.next_timer(), self._forgets_at())

    def _forgets_at(self) -> int | None:
        for seen in self._seen.values():
            return seen.heard_at + self._remembers
        return None

    # ---- output

    def _acknowledge(self, push: m.Push, source: Address) -> None:
        """All of a blob."""
        self._send_to(ack_of(push, push.segments), source, is_whole=True)

    def _send_to(self, ack: m.Ack, source: Address, *, is_whole: bool) -> None:
        data = encode(ack)
        if self._is_client(source):
            self.counts["client_to_client_bytes"] += ack_bytes(self._config.accounting, len(data), is_whole=is_whole)
        self._send(data, source)

    def _send_part(self, transfer: Transfer, segment: int, is_repeat: bool, now: int) -> None:
        data, part = transfer.datagram(segment), transfer.part_bytes(segment)
        sizes = self._config.accounting, len(data), part, len(transfer.blob), segment
        self.counts["client_to_client_bytes"] += push_bytes(*sizes, is_repeat=is_repeat)
        self._send(data, transfer.to)
        self._transfers.left(transfer, now)
        if is_repeat and segment == transfer.base and self.on_repeat is not None:
            self.on_repeat(transfer.push)

    def check_invariants(self) -> None:
        self._transfers.check_invariants()
        self._arrivals.check_invariants()
        heard = [seen.heard_at for seen in self._seen.values()]
        assert heard == sorted(heard)
