"""The server's core: a ``Node`` that joins the table of clients, an aggregator and propagation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.errors import WireError
from overlay.core.node import NodeEvent
from overlay.core.timers import earliest
from overlay.systems.radiator.accounting import HEADERS, other_bytes, push_bytes, spared_bytes
from overlay.systems.radiator.chains.chain import Member
from overlay.systems.radiator.chains.cutting import Chainability
from overlay.systems.radiator.chains.propagation import Outcome
from overlay.systems.radiator.chains.propagations import Propagations
from overlay.systems.radiator.chains.transfers import Transfer
from overlay.systems.radiator.chains.uplink import Uplink
from overlay.systems.radiator.clients.table import Clients, Entry
from overlay.systems.radiator.config import MAX_CLIENTS, Transport, ns
from overlay.systems.radiator.context import MAX_BYTES, TooLargeContext
from overlay.systems.radiator.server.aggregator import Aggregator, Emission
from overlay.systems.radiator.server.backoff import Backoff
from overlay.systems.radiator.server.facts import Identity, MessageAccepted, PendingDropped
from overlay.systems.radiator.server.registrar import Registrar
from overlay.systems.radiator.server.shares import Shares
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.codec import beginning, encode, parse
from overlay.systems.radiator.wire.compression import TooLarge, inflate


class Server:
    """``chance`` permutes recipients. ``aggregator`` is asked for what to send."""

    def __init__(
        self,
        config: Transport,
        address: Address,
        identity: Identity,
        chance: Chance,
        aggregator: Aggregator,
        *,
        chainability: Chainability[Entry] | None = None,
        most_clients: int = MAX_CLIENTS,
    ) -> None:
        self.address = address
        self._config, self._identity, self._aggregator = config, identity, aggregator
        self.clients = Clients(ns(config.forget_after_s), most_clients)
        self.propagations = Propagations(
            config,
            address,
            identity.epoch,
            identity.key,
            chance,
            send=self._send_part,
            state=self._state,
            silent=self._silent,
            chainability=chainability,
        )
        self.uplink = Uplink(config.uplink_bytes_per_s, self.propagations.may_leave, self.propagations.left)
        self._shares, self._backoff = Shares(config.retained_max), Backoff(config, self.uplink)
        self._registrar = Registrar(identity, self.clients, aggregator, self.propagations, self._drop, self._enter)
        self.counts: Counter[str] = Counter()
        """``accepted``, ``busy``, ``over_share``, ``refused`` and datagrams that cannot be parsed, ``unreadable``."""
        self._events: list[NodeEvent] = []

    # ---- a Node

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self._handle_earlier(now)
        for data, source in datagrams:
            try:
                message = parse(data)
            except WireError:
                self.counts["unreadable"] += 1
                self._refuse(data, source, now)
                continue
            handle = self._HANDLERS.get(type(message))
            if handle:
                handle(self, message, source, now)
        self.uplink.handle_timer(now)

    def _refuse(self, data: bytes, source: Address, now: int) -> None:
        """Say that a REGISTER or a CONTEXT is malformed, if its beginning can be read. Others get no answer."""
        kind, req, instance = beginning(data)
        if kind is m.Register:
            self._answer(m.Registered(req, m.Registration.MALFORMED, self._identity.epoch), source, now)
        elif kind is m.Context:
            code = m.Acceptance.MALFORMED if self._hear(instance, source, now) else m.Acceptance.UNKNOWN
            self._answer(m.Accepted(req, code, 0), source, now)

    def _handle_earlier(self, now: int) -> None:
        """Deadlines before ``now``, if the driver is late."""
        self._propagate(self._aggregator.handle_timer(now - 1), now)

    def handle_timer(self, now: int) -> None:
        self.uplink.handle_timer(now)
        self._propagate(self._aggregator.handle_timer(now), now)
        self.propagations.handle_timer(now)
        for entry in self.clients.forget(now):
            self._drop(entry, Outcome.UNREACHABLE, now)
        self.uplink.handle_timer(now)

    def next_timer(self) -> int | None:
        others = self.propagations.next_timer(), self._aggregator.next_timer(), self.clients.next_timer()
        return earliest(self.uplink.next_timer(), *others)

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self.uplink.datagrams_to_send()

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """The uplink is cut, which is the only fault of servers."""
        self.uplink.cut(now) if begins else self.uplink.mend(now)

    def events(self) -> Sequence[NodeEvent]:
        events = [*self._events, *self.propagations.events()]
        self._events = []
        return events

    def leave(self, now: int) -> int:
        """Shut down: everything that is pending or in flight is accounted. Returns 0: nothing remains to be sent."""
        self._handle_earlier(now)
        for entry in self.clients:
            self._drop(entry, Outcome.SHUT_DOWN, now)
        self.propagations.close()
        return 0

    # ---- registration

    def _register(self, request: m.Register, source: Address, now: int) -> None:
        self._answer(self._registrar.register(request, source, now), source, now)

    def _unregister(self, request: m.Unregister, source: Address, now: int) -> None:
        self._answer(self._registrar.unregister(request, source, now), source, now)

    def _enter(self, entry: Entry) -> None:
        if entry.is_local:
            self._shares.enter(entry.place)

    def _hear(self, instance: int, source: Address, now: int) -> Entry | None:
        """A sign of life; ``None`` for strangers."""
        entry = self.clients.of_instance(source[0], instance)
        if entry is not None:
            was_reachable = entry.is_reachable
            self.clients.hear(source[0], instance, now)
            if not was_reachable:
                self._aggregator.change(entry, now)
        return entry

    def _alive(self, message: m.Alive, source: Address, now: int) -> None:
        if self._hear(message.instance, source, now) is None:
            self._answer(m.RegisterAgain(self._identity.epoch), source, now)

    # ---- contexts

    def _accept(self, request: m.Context, source: Address, now: int) -> None:
        entry = self._hear(request.instance, source, now)
        if entry is None:
            return self._answer(m.Accepted(request.req, m.Acceptance.UNKNOWN, 0), source, now)
        answer = entry.recall(request.req)
        if answer is not None:
            return self._answer(answer, source, now)
        code = self.no_room(entry, now)
        if code is not None:
            return self._send_away(request, entry, code, source, now)
        code = self._take(request, entry, now)
        return self._answer(entry.remember(m.Accepted(request.req, code, 0)), source, now)

    def _send_away(self, request: m.Context, entry: Entry, code: m.Acceptance, source: Address, now: int) -> None:
        """It has to come later. Who is over its share takes no turn, so that it delays no other client's."""
        wait_ms: int | None = self._backoff.over_share_ms()
        if code is m.Acceptance.BUSY:
            self.counts["busy"] += 1
            wait_ms = self._backoff.busy_ms(self.clients.caller(entry).source, self.counts["accepted"], now)
        else:
            self.counts["over_share"] += 1
        if wait_ms is not None:
            self._answer(m.Accepted(request.req, code, wait_ms), source, now)

    def no_room(self, entry: Entry, now: int) -> m.Acceptance | None:
        """Why a context of this client would be refused now; ``None`` if there is room."""
        caller = self.clients.caller(entry)
        is_full = self.uplink.queued_bytes >= self._config.uplink_queue_bytes
        if is_full or self._backoff.must_wait(caller.source, now):
            return m.Acceptance.BUSY
        return self._shares.refusal(caller)

    def _take(self, request: m.Context, entry: Entry, now: int) -> m.Acceptance:
        try:
            body = inflate(request.body, request.codec, min(MAX_BYTES, self._config.most_bytes))
            context = self._aggregator.read(body)
        except (TooLarge, TooLargeContext):
            self.counts["refused"] += 1
            return m.Acceptance.TOO_LARGE
        except WireError:
            self.counts["refused"] += 1
            return m.Acceptance.MALFORMED
        number = self.counts["accepted"]
        self.counts["accepted"] += 1
        entry.last_context = context
        emissions = self._aggregator.accept(number, entry, context, now)
        if self._aggregator.is_retained(number):
            self._shares.keep(number, self.clients.caller(entry))
        due = self._aggregator.due
        self._events.append(MessageAccepted(number, entry.key[0], entry.instance, request.req, request.called_at, due))
        self._propagate(emissions, now)
        return m.Acceptance.OK

    # ---- propagation

    def _propagate(self, emissions: Iterable[Emission], now: int) -> None:
        for emission in emissions:
            messages, body, recipients, _ = emission
            self._let_go(messages)
            if len(body) <= self._config.most_bytes:
                self.propagations.propagate(messages, body, recipients, self.clients.p2p, now)
            elif len(messages) > 1:
                self._propagate(self._aggregator.halve(emission), now)
            else:
                self.propagations.refuse(messages, recipients)

    def _acknowledge(self, ack: m.Ack, source: Address, now: int) -> None:
        if ack.epoch == self._identity.epoch:
            self.propagations.acknowledge(ack, source, now)

    def _report(self, report: m.Report, source: Address, now: int) -> None:
        """Also of a client that has unregistered, and still forwards what it has acknowledged."""
        if self._hear(report.instance, source, now) is None and not self.propagations.is_member(report):
            return self._answer(m.RegisterAgain(self._identity.epoch), source, now)
        self.propagations.report(report, now)
        return self._answer(m.noted(report), source, now)

    def _state(self, member: Member) -> Outcome | None:
        entry = self.clients.get(member.key)
        if entry is None:
            return Outcome.UNREGISTERED
        if entry.instance != member.instance:
            return Outcome.TAKEN_OVER
        return None if entry.is_reachable else Outcome.UNREACHABLE

    def _silent(self, member: Member, now: int) -> None:
        entry = self.clients.get(member.key)
        if entry is None or (entry.instance, entry.address) != (member.instance, member.address):
            return
        if self.clients.lose(entry, now):
            self._drop(entry, Outcome.UNREACHABLE, now)

    def _drop(self, entry: Entry, reason: Outcome, now: int) -> None:
        messages = tuple(self._aggregator.drop(entry, now))
        self._let_go(messages)
        if entry.is_local and self.clients.get(entry.key) is not entry:
            self._shares.leave(entry.place)
        if messages:
            self._events.append(PendingDropped(*entry.key, str(reason), messages))
        if reason is Outcome.UNREACHABLE:
            self.propagations.lost(entry.address, now)

    def _let_go(self, messages: Iterable[int]) -> None:
        self._shares.let_go(one for one in messages if not self._aggregator.is_retained(one))

    # ---- output

    def _answer(self, message: Any, to: Address, now: int) -> None:
        data = encode(message)
        self.uplink.put(data, to, other_bytes(self._config.accounting, message, len(data)), now)

    def _send_part(self, transfer: Transfer, segment: int, is_repeat: bool, now: int) -> None:
        data, part = transfer.datagram(segment), transfer.part_bytes(segment)
        sizes = self._config.accounting, len(data), part, len(transfer.blob), segment
        if is_repeat:
            self.propagations.repeat(transfer, segment, now)
        raw, accounting = self.propagations.raw_bytes(transfer), self._config.accounting
        spared = spared_bytes(accounting, len(transfer.blob), raw, segment, is_repeat=is_repeat)
        self.uplink.put(data, transfer.to, push_bytes(*sizes, is_repeat=is_repeat), now, transfer, spared)

    _HANDLERS: ClassVar[Mapping[type, Callable[..., None]]] = {
        m.Register: _register,
        m.Unregister: _unregister,
        m.Context: _accept,
        m.Ack: _acknowledge,
        m.Failed: _report,
        m.Done: _report,
        m.Progress: _report,
        m.Alive: _alive,
    }

    def check_invariants(self) -> None:
        self.clients.check_invariants()
        self.propagations.check_invariants()
        self.uplink.check_invariants()
        if self._config.accounting == "datagram":
            assert self.uplink.bytes_sent == self.uplink.bytes_given + HEADERS * self.uplink.datagrams_sent
        self._aggregator.check_invariants()
        self._shares.check_invariants()
        self._backoff.check_invariants()
        assert len(self._shares) == self._aggregator.retained, "each retained message is in the share of a client"
