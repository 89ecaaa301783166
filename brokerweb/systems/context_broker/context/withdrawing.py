"""Deletes data at all brokers of a network. What a broker has not confirmed is stored before the client is answered,
and repeated until it has, also after a restart of the web process.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from channels.db import database_sync_to_async
from django.db import DatabaseError

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.context_broker.models import PendingWithdrawal
from overlay.core.addresses import Address, format_address, parse_address
from overlay.programs.context_broker.pool import PoolClient
from overlay.programs.context_broker.withdrawals import Brokers, Pending, Repeater, Withdrawal, withdraw

FULL = "Too many deletions wait for brokers of this network that do not confirm them. Restart or remove these brokers."
AGAIN_S = 5.0

log = logging.getLogger(__name__)
# Not in the thread of a request: if Django passed that on, its thread waits for this.
_in_thread = partial(database_sync_to_async, thread_sensitive=False)
Client = Callable[[NetworkSnapshot], PoolClient]
Look = Callable[[str], Awaitable[NetworkSnapshot | None]]


class Withdrawing:
    """``client`` has the ports of a network; ``look`` reads it from the database."""

    def __init__(self, client: Client, look: Look) -> None:
        self._client, self._look = client, look
        self._repeaters: dict[str, Repeater] = {}
        self._rows: dict[tuple[str, Pending], int] = {}
        self._resuming: asyncio.Task[None] | None = None

    @property
    def pending(self) -> int:
        return sum(map(len, self._repeaters.values()))

    def start(self) -> None:
        """In the running event loop: take up those that a former process left."""
        self._resuming = asyncio.get_running_loop().create_task(self._resume())

    async def _resume(self) -> None:
        while True:
            try:
                return await self.resume()
            except DatabaseError as error:
                log.warning("deletions that were not confirmed cannot be read yet: %s", error)
                await asyncio.sleep(AGAIN_S)

    async def resume(self) -> None:
        """The same now. Raises ``DatabaseError``."""
        for network, found in (await _in_thread(_load)()).items():
            self._rows |= {(network, one): row for row, one in found}
            await self._add(network, [one for _, one in found])

    async def send(self, snapshot: NetworkSnapshot, one: Withdrawal) -> Mapping[Address, bool]:
        """Whether each broker has confirmed. Those that have not are asked again later, if one has.

        Raises ``WireError``, and ``NotPossible`` before anything is sent.
        """
        if (repeater := self._repeaters.get(snapshot.network)) is not None and repeater.is_full:
            raise NotPossible(FULL)
        brokers = self._brokers(snapshot)
        errors = await withdraw(brokers.client, one, brokers.up)
        told = {broker: broker in errors and errors[broker] is None for broker in brokers.processes}
        left = [Pending(one, broker, brokers.processes[broker]) for broker, is_done in told.items() if not is_done]
        if left and any(told.values()):
            rows = await _in_thread(_store)(snapshot.network, left)
            self._rows |= {(snapshot.network, one): row for one, row in zip(left, rows, strict=True)}
            await self._add(snapshot.network, left)
        return told

    async def again(self, network: str) -> None:
        """Try the pending ones of a network once more."""
        if (repeater := self._repeaters.get(network)) is not None:
            await repeater.again()

    def close(self) -> None:
        """Forget them; their rows stay."""
        if self._resuming is not None:
            self._resuming.cancel()
            self._resuming = None
        for repeater in self._repeaters.values():
            repeater.close()
        self._repeaters.clear()
        self._rows.clear()

    async def _add(self, network: str, pending: Sequence[Pending]) -> None:
        repeater = self._repeaters.get(network)
        if repeater is None:
            look, ended = partial(self._now, network), partial(self._ended, network)
            repeater = self._repeaters[network] = Repeater(look, ended)
        if replaced := repeater.add(pending):
            await self._ended(network, replaced)

    async def _now(self, network: str) -> Brokers | None:
        snapshot = await self._look(network)
        return None if snapshot is None else self._brokers(snapshot)

    def _brokers(self, snapshot: NetworkSnapshot) -> Brokers:
        processes = {parse_address(row["address"]): row.get("pid") for row in snapshot.present if row.get("address")}
        return Brokers(self._client(snapshot), processes, snapshot.addresses)

    async def _ended(self, network: str, over: Sequence[Pending]) -> None:
        rows = [self._rows.pop((network, one), 0) for one in over]
        await _in_thread(_delete)(rows)
        if not self._repeaters.get(network):
            self._repeaters.pop(network, None)


def _store(network: str, pending: Sequence[Pending]) -> list[int]:
    """The numbers of their rows."""
    rows = []
    for left in pending:
        type, entity, scope = left.one.key
        names = {"provider": left.one.provider, "type": type, "entity": entity, "scope": scope}
        times = {"stamp": left.one.stamp, "until": left.one.until}
        where = {"network_id": network, "broker": format_address(left.broker), "process": left.process}
        rows.append(PendingWithdrawal(**where, **names, **times))
    return [row.pk for row in PendingWithdrawal.objects.bulk_create(rows)]


def _load() -> Mapping[str, Sequence[tuple[int, Pending]]]:
    """By network."""
    found = defaultdict(list)
    for row in PendingWithdrawal.objects.all():
        one = Withdrawal(row.provider, (row.type, row.entity, row.scope), row.stamp, row.until)
        found[row.network_id].append((row.pk, Pending(one, parse_address(row.broker), row.process)))
    return found


def _delete(rows: Sequence[int]) -> None:
    for begin in range(0, len(rows), 500):
        PendingWithdrawal.objects.filter(pk__in=rows[begin : begin + 500]).delete()
