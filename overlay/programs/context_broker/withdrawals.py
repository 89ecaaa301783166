"""Withdrawals at all brokers of a network, repeated at those that did not confirm.

Counterparts: REST's context and the bridge to MQTT, each of which says who the brokers are. A broker that was cut off
comes back with older data; one that started again has an empty table and needs nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.programs.context_broker.client import NoAnswer, Refused, Unanswered
from overlay.programs.context_broker.follower import wall_ms
from overlay.programs.context_broker.pool import PoolClient
from overlay.systems.context_broker.pool.pool import TooMany
from overlay.systems.context_broker.wire.messages import Key

ONE_S = 1.0
"""Timeout of one broker."""
BROKERS_AT_ONCE, OF_ONE_BROKER = 16, 4
"""Brokers that are asked at the same time, and withdrawals at one of them: together a fourth of a pool."""
MOST_PENDING = 10_000
"""Withdrawals at one broker each."""
FIRST_S, LONGEST_S = 1.0, 30.0
"""Pauses between two attempts."""
UNKNOWN_MS = 3_600_000
"""How long one is repeated whose data have no known end."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Of one provider's entry. Times are Unix milliseconds."""

    provider: str
    key: Key
    stamp: int
    until: int
    """The latest ValidEnd known; 0 if unknown."""

    @property
    def ends(self) -> int:
        return self.until or self.stamp + UNKNOWN_MS


@dataclass(frozen=True, slots=True)
class Pending:
    """A withdrawal that a broker has not confirmed."""

    one: Withdrawal
    broker: Address
    process: int | None = None
    """That the broker had; ``None`` if unknown."""

    @property
    def name(self) -> tuple[Address, str, Key]:
        """Of several with one name, the latest counts."""
        return self.broker, self.one.provider, self.one.key


class Brokers(NamedTuple):
    """Those of a network at one moment."""

    client: PoolClient
    processes: Mapping[Address, int | None]
    """Of all that belong to it, whether they run or not."""
    up: Collection[Address]


async def withdraw(client: PoolClient, one: Withdrawal, brokers: Iterable[Address]) -> dict[Address, Exception | None]:
    """Send it to all of them; the reason of each that has not confirmed. Raises ``WireError``."""
    asked = tuple(brokers)
    slots = asyncio.Semaphore(BROKERS_AT_ONCE * OF_ONE_BROKER)

    async def send(broker: Address) -> Exception | None:
        async with slots:
            return await _withdraw_at(client, one, broker)

    return dict(zip(asked, await asyncio.gather(*map(send, asked)), strict=True))


async def _withdraw_at(client: PoolClient, one: Withdrawal, broker: Address) -> Unanswered | Refused | TooMany | None:
    try:
        await client.withdraw(one.provider, one.key, one.until, one.stamp, broker, ONE_S)
    except (Refused, NoAnswer, TooMany) as error:
        return error
    return None


class Repeater:
    """Repeats the withdrawals of one network until they are confirmed or no longer needed.

    Brokers are asked at the same time, and one that is silent costs one timeout per attempt, however many withdrawals
    wait for it. ``look`` says who the brokers are, ``None`` if the network is no more; ``ended`` is told of those that
    are over.
    """

    def __init__(
        self,
        look: Callable[[], Awaitable[Brokers | None]],
        ended: Callable[[Sequence[Pending]], Awaitable[None]] | None = None,
    ) -> None:
        self._look, self._ended = look, ended
        self._pending: dict[tuple[Address, str, Key], Pending] = {}
        self._task: asyncio.Task[None] | None = None
        self._pause = FIRST_S

    def __len__(self) -> int:
        return len(self._pending)

    @property
    def is_full(self) -> bool:
        """Whether another one that is not confirmed would be too many."""
        return len(self._pending) >= MOST_PENDING

    def add(self, pending: Iterable[Pending]) -> list[Pending]:
        """Repeat them from now on. Returns those that a later one replaces."""
        replaced = []
        for one in pending:
            known = self._pending.get(one.name, one)
            first, last = sorted((known, one), key=lambda either: either.one.stamp)
            self._pending[one.name] = last
            replaced += [first] if first is not last else []
        self._pause = FIRST_S
        if self._pending and (self._task is None or self._task.done()):
            self._task = asyncio.get_running_loop().create_task(self._repeat())
        return replaced

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _repeat(self) -> None:
        while self._pending:
            pause, self._pause = self._pause, min(2 * self._pause, LONGEST_S)
            await asyncio.sleep(pause)
            try:
                await self.again()
            except Exception:
                log.exception("withdrawals were not repeated")

    async def again(self) -> None:
        """Try them once more, and forget those that are over."""
        brokers, now_ms = await self._look(), wall_ms()
        over: list[Pending] = []
        left: dict[Address, list[Pending]] = defaultdict(list)
        for one in list(self._pending.values()):
            if brokers is None or is_over(one, brokers, now_ms):
                over.append(one)
            elif one.broker in brokers.up:
                left[one.broker].append(one)
        if brokers is not None:
            slots = asyncio.Semaphore(BROKERS_AT_ONCE)
            confirmed = await asyncio.gather(*(_at(brokers.client, ones, slots) for ones in left.values()))
            over += [one for ones in confirmed for one in ones]
        for one in over:
            if self._pending.get(one.name) is one:  # not a later one, which was added meanwhile
                del self._pending[one.name]
        if over and self._ended is not None:
            await self._ended(over)


def is_over(one: Pending, brokers: Brokers, now_ms: int) -> bool:
    """Whether it is no longer needed: the data have expired, or the broker has left or started again."""
    if one.one.ends <= now_ms or one.broker not in brokers.processes:
        return True
    return one.broker in brokers.up and brokers.processes[one.broker] != one.process


async def _at(client: PoolClient, ones: Sequence[Pending], slots: asyncio.Semaphore) -> list[Pending]:
    """Those of one broker that it confirms. A silent one is left for the next attempt."""
    confirmed: list[Pending] = []
    async with slots:
        for begin in range(0, len(ones), OF_ONE_BROKER):
            some = ones[begin : begin + OF_ONE_BROKER]
            errors = await asyncio.gather(*(_withdraw_at(client, one.one, one.broker) for one in some))
            confirmed += [one for one, error in zip(some, errors, strict=True) if error is None]
            if any(isinstance(error, NoAnswer | TooMany) for error in errors):
                break
    return confirmed
