"""The server's table of clients (seed 003, 4.2): one entry per (IP address, id), in order of registration.

::

    register ──> reachable <── hear ── unreachable ── forget_after ──> forgotten
                     └── lose (no push could reach it) ──┘
    unregister: from either state
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from overlay.core.addresses import Address, block_of, is_loopback
from overlay.systems.radiator.config import MAX_CLIENTS
from overlay.systems.radiator.wire.messages import Acceptance, Accepted, Registration

MAX_ANSWERS = 256
"""Remembered answers of an instance."""

Key = tuple[str, str]
"""IP address and id."""


@dataclass(slots=True, eq=False)
class Entry:
    """One life of one client. An entry that was replaced or deleted is never used again."""

    key: Key
    instance: int
    address: Address
    attributes: Mapping[str, Any]
    is_p2p: bool
    heard_at: int
    place: int
    """In the order of registration; never given to another entry."""
    req: int
    """Of its last registration; an older one that arrives later changes nothing."""
    is_http: bool = False
    """Whether it forwards by HTTP, to clients of the same gateway."""
    last_context: Any = None
    lost_at: int | None = None
    """When it became unreachable; ``None`` while it is reachable."""
    answers: dict[int, Accepted] = field(default_factory=dict)
    has_displaced: bool = False
    """Whether another client had its address before."""

    @property
    def is_reachable(self) -> bool:
        return self.lost_at is None

    @property
    def is_local(self) -> bool:
        """Whether it is on the server's machine."""
        return not _owner_of(self.key[0])

    def recall(self, req: int) -> Accepted | None:
        """The answer to a repeated request. One that is older than all remembered is malformed."""
        known = self.answers.get(req)
        if known is None and len(self.answers) >= MAX_ANSWERS and req < min(self.answers):
            return Accepted(req, Acceptance.MALFORMED, 0)
        return known

    def remember(self, answer: Accepted) -> Accepted:
        self.answers[answer.req] = answer
        if len(self.answers) > MAX_ANSWERS:
            del self.answers[min(self.answers)]
        return answer


class Admission(NamedTuple):
    """The result of a registration."""

    code: Registration
    entry: Entry | None = None
    replaced: Entry | None = None
    """The unreachable entry of another instance that was taken over."""
    displaced: Entry | None = None
    """The entry of another client that had this address: it is unreachable, or deleted if it had displaced another
    one itself. So a socket has two entries at most, however often it registers."""
    forgotten: Entry | None = None
    """The longest unreachable one, deleted to make room."""
    is_changed: bool = False
    """Whether the entry is new or has new attributes."""


class Caller(NamedTuple):
    """Who sends a message, of how many."""

    source: Hashable
    """Its host, for IPv6 its /64; on the server's machine the client itself."""
    client: int
    sources: int
    """Registered ones."""
    siblings: int
    """Registered clients of the source."""


class Clients:
    """The table. ``most`` is its limit, of which one host has at most half; ``forget_after`` is in nanoseconds."""

    def __init__(self, forget_after: int, most: int = MAX_CLIENTS) -> None:
        self._forget_after, self._most = forget_after, most
        self._entries: dict[Key, Entry] = {}
        self._by_instance: dict[tuple[str, int], Entry] = {}
        self._by_address: dict[Address, Entry] = {}
        """Reachable ones only: the owner of a socket is the last that registered from it."""
        self._lost: dict[Key, Entry] = {}
        """Unreachable ones, the longest first."""
        self._places = 0
        """How many were given."""
        self._p2p = 0
        """Reachable ones that accept pushes from clients."""
        self._by_owner: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        """All entries, in order of registration."""
        return iter(self._entries.values())

    @property
    def reachable(self) -> Sequence[Entry]:
        """In order of registration."""
        return [entry for entry in self._entries.values() if entry.lost_at is None]

    @property
    def p2p(self) -> int:
        return self._p2p

    def get(self, key: Key) -> Entry | None:
        return self._entries.get(key)

    def knows(self, address: Address) -> bool:
        """Whether a reachable client has it."""
        return address in self._by_address

    def of_instance(self, ip: str, instance: int) -> Entry | None:
        return self._by_instance.get((ip, instance))

    def caller(self, entry: Entry) -> Caller:
        """Whose share ``entry`` uses. On this machine each client is a source of its own."""
        owner, local = _owner_of(entry.key[0]), self._by_owner[""]
        sources = len(self._by_owner) - bool(local) + local
        return Caller(owner or entry.place, entry.place, sources, self._by_owner[owner] if owner else 1)

    # ---- changes

    def register(
        self,
        address: Address,
        id: str,
        instance: int,
        attributes: Mapping[str, Any],
        *,
        is_p2p: bool,
        req: int,
        now: int,
        is_http: bool = False,
    ) -> Admission:
        key = (address[0], id)
        known, same = self._entries.get(key), self._by_instance.get((address[0], instance))
        if (same is not None and same is not known) or (known is not None and known is not same and known.is_reachable):
            return Admission(Registration.COLLISION)
        forgotten, owner = None, _owner_of(address[0])
        if known is None and owner and self._by_owner[owner] >= max(1, self._most // 2):
            return Admission(Registration.FULL)
        if known is None and len(self._entries) >= self._most:
            forgotten = next(iter(self._lost.values()), None)
            if forgotten is None:
                return Admission(Registration.FULL)
            self._remove(forgotten)
        if same is not None and req <= same.req:
            self._revive(same, now)
            return Admission(Registration.OK, same)
        displaced = self._displace(address, key, now)
        entry = Entry(key, instance, address, attributes, is_p2p, now, self._places, req, is_http)
        if same is not None:
            self._overwrite(same, entry, now)
            return Admission(Registration.OK, same, displaced=displaced, is_changed=True)
        if known is not None:
            self._remove(known)
        entry.has_displaced = displaced is not None
        self._add(entry)
        return Admission(Registration.OK, entry, known, displaced, forgotten, is_changed=True)

    def unregister(self, ip: str, instance: int, id: str) -> Entry | None:
        """The deleted entry; ``None`` for strangers."""
        entry = self._by_instance.get((ip, instance))
        if entry is None or entry.key[1] != id:
            return None
        self._remove(entry)
        return entry

    def hear(self, ip: str, instance: int, now: int) -> Entry | None:
        """A datagram with this instance has arrived: its client is reachable. ``None`` for strangers."""
        entry = self._by_instance.get((ip, instance))
        if entry is not None:
            self._revive(entry, now)
        return entry

    def lose(self, entry: Entry, now: int) -> bool:
        """No push could reach it. Returns whether that is new."""
        if self._entries.get(entry.key) is not entry or entry.lost_at is not None:
            return False
        self._p2p -= entry.is_p2p
        entry.lost_at = now
        self._lost[entry.key] = entry
        if self._by_address.get(entry.address) is entry:
            del self._by_address[entry.address]
        return True

    def forget(self, now: int) -> list[Entry]:
        """Delete the entries that have been unreachable for ``forget_after``."""
        found = []
        while (timer := self.next_timer()) is not None and timer <= now:
            entry = next(iter(self._lost.values()))
            self._remove(entry)
            found.append(entry)
        return found

    def next_timer(self) -> int | None:
        entry = next(iter(self._lost.values()), None)
        return None if entry is None or entry.lost_at is None else entry.lost_at + self._forget_after

    # ---- parts of the above

    def _add(self, entry: Entry) -> None:
        self._places += 1
        self._entries[entry.key] = entry
        self._by_instance[entry.key[0], entry.instance] = entry
        self._by_address[entry.address] = entry
        self._by_owner[_owner_of(entry.key[0])] += 1
        self._p2p += entry.is_p2p

    def _remove(self, entry: Entry) -> None:
        del self._entries[entry.key], self._by_instance[entry.key[0], entry.instance]
        if self._by_address.get(entry.address) is entry:
            del self._by_address[entry.address]
        self._by_owner[owner := _owner_of(entry.key[0])] -= 1
        if not self._by_owner[owner]:
            del self._by_owner[owner]
        if self._lost.pop(entry.key, None) is None:
            self._p2p -= entry.is_p2p

    def _overwrite(self, entry: Entry, new: Entry, now: int) -> None:
        """Its place, last context and answers stay."""
        self._revive(entry, now)
        self._p2p += new.is_p2p - entry.is_p2p
        if self._by_address.get(entry.address) is entry:
            del self._by_address[entry.address]
        entry.address, entry.attributes, entry.is_p2p, entry.req = new.address, new.attributes, new.is_p2p, new.req
        entry.is_http = new.is_http
        self._by_address[entry.address] = entry

    def _revive(self, entry: Entry, now: int) -> None:
        entry.heard_at = now
        if entry.lost_at is not None:
            del self._lost[entry.key]
            entry.lost_at = None
            self._p2p += entry.is_p2p
            self._by_address.setdefault(entry.address, entry)

    def _displace(self, address: Address, key: Key, now: int) -> Entry | None:
        """A socket has one client: another one that registered from this address before is no longer there."""
        owner = self._by_address.get(address)
        if owner is None or owner.key == key:
            return None
        self._remove(owner) if owner.has_displaced else self.lose(owner, now)
        return owner

    def check_invariants(self) -> None:
        entries = list(self._entries.values())
        assert len(entries) <= self._most
        assert all(entry.key == key for key, entry in self._entries.items())
        places = [entry.place for entry in entries]
        assert places == sorted(set(places)) and all(place < self._places for place in places)
        assert self._by_instance == {(entry.key[0], entry.instance): entry for entry in entries}
        assert self._lost == {entry.key: entry for entry in entries if entry.lost_at is not None}
        lost_at = [entry.lost_at or 0 for entry in self._lost.values()]
        assert lost_at == sorted(lost_at)
        assert self._p2p == sum(entry.is_p2p for entry in entries if entry.is_reachable)
        for address, entry in self._by_address.items():
            assert entry.address == address
            assert entry.is_reachable and self._entries.get(entry.key) is entry
        assert all(len(entry.answers) <= MAX_ANSWERS for entry in entries)
        assert self._by_owner == Counter(_owner_of(entry.key[0]) for entry in entries)


@lru_cache(maxsize=4096)
def _owner_of(ip: str) -> str:
    """Who has at most half of a table: a host, for IPv6 its /64. Empty for this machine, where simulations run."""
    if is_loopback(ip):
        return ""
    return block_of(ip) if ":" in ip else ip
