"""The network's side of a bridge: operations on its brokers, and its changes, in the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.programs.context_broker.client import NoAnswer, Refused
from overlay.programs.context_broker.follower import NetworkFollower, wall_ms
from overlay.programs.context_broker.pool import PoolClient
from overlay.programs.context_broker.withdrawals import Brokers, Pending, Repeater, Withdrawal, withdraw
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.feed_reader import Name, Record
from overlay.systems.context_broker.mqtt.inward import Operation, Outcome
from overlay.systems.context_broker.mqtt.values import Value
from overlay.systems.context_broker.pool.pool import TooMany
from overlay.systems.context_broker.pool.stamps import GivenStamp
from overlay.systems.context_broker.view.change_log import Kind

DEADLINE_S = 10.0
"""Of a value, through any broker."""
READ_S = 5.0
GRACE_S = 60.0


class Network:
    """``follow``: whether changes are wanted. They are reported to ``stored``, ``withdrawn`` and ``lost``."""

    def __init__(
        self,
        wall: WallClock,
        stored: Callable[[Value], None],
        withdrawn: Callable[[Name, int, int], None],
        lost: Callable[[Name], None],
        *,
        follow: bool,
    ) -> None:
        self.brokers: tuple[Address, ...] = ()
        self._pool = PoolClient(wall=wall)
        self._listed: dict[Address, float] = {}
        """When each broker was last in the list, by the event loop's clock."""
        self._stored, self._withdrawn, self._lost = stored, withdrawn, lost
        self._follower = NetworkFollower() if follow else None
        self._read = 0
        self._known: set[Name] = set()
        self._repeater = Repeater(self._now)

    async def start(self) -> None:
        """Read the network, and follow it from then on."""
        if self._follower is None:
            return
        await self._follower.has_read(READ_S)
        self._read_all()
        self._follower.listen(self._changes)

    def keep(self, brokers: Iterable[Address]) -> None:
        """These are the network's brokers now. One that is missing in the list is kept for ``GRACE_S``, since lists
        leave out brokers that were silent for a moment."""
        now = asyncio.get_running_loop().time()
        self._listed.update(dict.fromkeys(brokers, now))
        self._listed = {broker: at for broker, at in self._listed.items() if at + GRACE_S >= now}
        self.brokers = tuple(self._listed)
        self._pool.keep(self.brokers)
        if self._follower is not None:
            self._follower.follow(self.brokers)

    def close(self) -> None:
        self._repeater.close()
        if self._follower is not None:
            self._follower.close()
        self._pool.close()

    @property
    def missing(self) -> dict[Address, str]:
        """Brokers whose data may be missing, and why."""
        return {} if self._follower is None else dict(self._follower.view.missing)

    @property
    def pending_withdrawals(self) -> int:
        return len(self._repeater)

    # ---- operations

    async def perform(self, operation: Operation) -> tuple[Outcome, str]:
        """Its outcome, and why."""
        try:
            await (self._withdraw(operation) if operation.is_withdrawal else self._provide(operation.value))
        except Refused as error:
            return Outcome.REFUSED, str(error)
        except WireError as error:
            return Outcome.UNFIT, str(error)
        except (NoAnswer, TooMany) as error:
            return Outcome.UNANSWERED, str(error)
        return Outcome.STORED, ""

    async def _provide(self, value: Value) -> None:
        valid_ms = value.valid_end - value.valid_begin
        given = GivenStamp(value.timestamp, value.valid_begin)
        await self._pool.provide(
            value.provider, value.key, value.payload, valid_ms, self.brokers, DEADLINE_S, given=given
        )

    async def _withdraw(self, operation: Operation) -> None:
        """At all brokers; done when one has confirmed. The others are asked again."""
        if not self.brokers:
            raise NoAnswer("no broker is known")
        if self._repeater.is_full:
            raise NoAnswer("too many withdrawals wait for brokers that do not confirm them")
        value = operation.value
        one = Withdrawal(value.provider, value.key, value.timestamp, value.valid_end)
        errors = await withdraw(self._pool, one, self.brokers)
        failed = {broker: error for broker, error in errors.items() if error is not None}
        if len(failed) == len(errors):
            raise next(iter(failed.values()))
        self._repeater.add(Pending(one, broker) for broker in failed)

    async def _now(self) -> Brokers:
        return Brokers(self._pool, dict.fromkeys(self.brokers), self.brokers)

    # ---- changes

    def _changes(self) -> None:
        assert self._follower is not None
        log = self._follower.view.log
        while self._read < log.last:
            changes = log.after(self._read)
            if changes is None:
                self._read_all()
                return
            for change in changes:
                self._read = change.sequence
                self._report(change.kind, change.record)

    def _report(self, kind: Kind, record: Record) -> None:
        if kind is Kind.STORED:
            self._known.add(record.name)
            self._stored(_value(record))
            return
        self._known.discard(record.name)
        if kind is Kind.WITHDRAWN:
            self._withdrawn(record.name, record.timestamp, record.valid_end)
        else:
            self._lost(record.name)

    def _read_all(self) -> None:
        """Everything again: at the start, and after more changes than the log keeps."""
        assert self._follower is not None
        view = self._follower.view
        self._read = view.log.last
        records = [entry.record for entry in view.valid(wall_ms())]
        for name in self._known - {record.name for record in records}:
            self._lost(name)
        self._known = {record.name for record in records}
        for record in records:
            self._stored(_value(record))


def _value(record: Record) -> Value:
    return Value(record.provider, record.key, record.timestamp, record.valid_begin, record.valid_end, record.payload)
