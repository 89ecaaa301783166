"""R: the clients of all brokers that this one knows, each by where it is known from.

Entries over a new edge may be older than those over another, so the entry of each source is kept: a single one would
let a stale entry replace a right one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from overlay.systems.federation.wire.sums import RunningSum, sum_of
from overlay.systems.federation.wire.values import Entry, Role, Summary

LOCAL = ""
"""The source of the broker's own clients. Neighbours are sources under their id."""


@dataclass(frozen=True, slots=True)
class Served:
    """A provider at or behind ``source`` has other scopes than before."""

    client: str
    source: str
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EntryChange:
    """What ``neighbour`` must be told."""

    neighbour: str
    added: tuple[Entry, ...]
    removed: tuple[str, ...]


class RegistrationTable:
    """``put`` and ``remove`` return how the scopes of providers have changed."""

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, Entry]] = {}
        """By client and source."""
        self._providers: dict[str, Counter[str]] = {}
        """By scope, from how many sources each client is known to serve it."""
        self._sent: dict[str, dict[str, Entry]] = {}
        """By neighbour and client."""
        self._exported: dict[str, frozenset[str]] = {}
        """By neighbour of another domain."""
        self._sent_sums: dict[str, RunningSum] = {}
        self._held_sums: dict[str, RunningSum] = {}
        """By neighbour, of what came from it."""
        self._changed_here: dict[str, None] = {}
        """Own clients, if changes of them are kept."""
        self.keeps_changes = False
        self._changed: dict[str, dict[str, None]] = {}
        """By neighbour, the clients of which it may have to be told."""

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        """The clients."""
        return iter(self._rows)

    def get(self, client: str) -> Entry | None:
        """The best entry: of the highest registration, then of the lower home, then the newest version."""
        return _best(self._rows.get(client, {}).values())

    def next_hops(self, client: str) -> tuple[str, ...]:
        """The sources from which it is known."""
        return tuple(self._rows.get(client, ()))

    def local(self, client: str) -> Entry | None:
        return self._rows.get(client, {}).get(LOCAL)

    def is_superseded(self, client: str) -> bool:
        """Whether it is registered here, and newer or with a lower home elsewhere: this broker must remove it."""
        own = self.local(client)
        best = self.get(client)
        return own is not None and best is not None and best.home != own.home

    def held_from(self, source: str) -> list[Entry]:
        return [entries[source] for entries in self._rows.values() if source in entries]

    def providers(self, scope: str) -> list[Entry]:
        """The best entries of those that serve a scope, by name."""
        found = map(self.get, sorted(self._providers.get(scope, ())))
        return [entry for entry in found if entry is not None and scope in _scopes(entry)]

    def put(self, entry: Entry, source: str = LOCAL) -> Served:
        client = entry.advertisement.id
        entries = self._rows.setdefault(client, {})
        before = entries.get(source)
        entries[source] = entry
        if source != LOCAL:
            _replace(self._held_sums[source], before, entry)
        elif self.keeps_changes:
            self._changed_here[client] = None
        self._mark(client, source)
        return self._served(Served(client, source, _scopes(before), _scopes(entry)))

    def remove(self, client: str, source: str = LOCAL) -> Served | None:
        """None if it was not there."""
        entries = self._rows.get(client, {})
        before = entries.pop(source, None)
        if before is None:
            return None
        if not entries:
            del self._rows[client]
        if source != LOCAL:
            _replace(self._held_sums[source], before, None)
        elif self.keeps_changes:
            self._changed_here[client] = None
        self._mark(client, source)
        return self._served(Served(client, source, _scopes(before), ()))

    def take_changed_here(self) -> list[str]:
        """Own clients whose entries have changed since the last call, with ``keeps_changes``."""
        changed, self._changed_here = list(self._changed_here), {}
        return changed

    # ---- what neighbours are told

    @property
    def neighbours(self) -> Iterable[str]:
        return self._sent

    def connect(self, neighbour: str, exported: frozenset[str] | None = None) -> None:
        """It knows nothing yet. ``exported``: the only scopes that it is told of, as it is of another domain."""
        self._sent[neighbour] = {}
        if exported is not None:
            self._exported[neighbour] = exported
        self._sent_sums[neighbour] = RunningSum()
        self._held_sums.setdefault(neighbour, RunningSum())
        self._changed[neighbour] = dict.fromkeys(self._rows)

    def disconnect(self, neighbour: str) -> None:
        """What came from it is gone."""
        del self._sent[neighbour], self._sent_sums[neighbour], self._changed[neighbour]
        for entry in self.held_from(neighbour):
            self.remove(entry.advertisement.id, neighbour)
        del self._held_sums[neighbour]
        self._exported.pop(neighbour, None)

    def may_see(self, neighbour: str, scope: str) -> bool:
        """Whether it is of the same domain, or the scope is exported."""
        exported = self._exported.get(neighbour)
        return exported is None or scope in exported

    def is_settled(self, neighbour: str) -> bool:
        """Clients of which it knows all are not looked at again, as there may be many: those of other brokers."""
        changed, known = self._changed[neighbour], list[str]()
        for client in changed:
            if self._differs(neighbour, client):
                for one in known:
                    del changed[one]
                return False
            known.append(client)
        changed.clear()
        return True

    def sent(self, neighbour: str) -> Iterable[Entry]:
        return self._sent[neighbour].values()

    def sums(self, neighbour: str) -> tuple[Summary, Summary]:
        """Of what it was told, and of what came from it."""
        return self._sent_sums[neighbour].summary, self._held_sums[neighbour].summary

    def difference(self, neighbour: str, most: int | None = None) -> EntryChange:
        """To be told now; empty if it is settled. With ``most`` perhaps not all: the next call has what is left."""
        sent, total, changed = self._sent[neighbour], self._sent_sums[neighbour], self._changed[neighbour]
        added, removed, seen = list[Entry](), list[str](), list[str]()
        for client in changed:
            if len(added) + len(removed) == most:
                break
            seen.append(client)
            wanted, known = self.desired(neighbour, client), sent.get(client)
            if wanted is known or wanted == known:
                continue
            _replace(total, known, wanted)
            if wanted is None:
                del sent[client]
                removed.append(client)
            else:
                sent[client] = wanted
                added.append(wanted)
        for client in seen:
            del changed[client]
        return EntryChange(neighbour, tuple(added), tuple(removed))

    def desired(self, neighbour: str, client: str) -> Entry | None:
        """Providers go on from every other source; consumers one hop, from their home (details, section 2)."""
        entries = self._rows.get(client)
        if entries is None:
            return None
        found = _best([entry for source, entry in entries.items() if source != neighbour])
        if found is not None and neighbour in self._exported:
            return _exported(found, self._exported[neighbour])
        if found is None or found.advertisement.role is Role.PROVIDER:
            return found
        return entries.get(LOCAL)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert all(self._rows.values())
        serving = Counter((scope, client) for client in self._rows for scope in self._all_scopes(client))
        counted = {(scope, client): n for scope, of in self._providers.items() for client, n in of.items()}
        assert serving == counted, "providers by scope differ from the table"
        sources = {source for entries in self._rows.values() for source in entries}
        assert sources <= {LOCAL, *self._sent}, "a next hop is no neighbour"
        for neighbour, sent in self._sent.items():
            assert self.sums(neighbour) == (sum_of(sent.values()), sum_of(self.held_from(neighbour)))
            for client in {*self._rows, *sent} - self._changed[neighbour].keys():
                assert not self._differs(neighbour, client), f"{client}: sent differs from desired"

    def _served(self, change: Served) -> Served:
        for scope in change.after:
            self._providers.setdefault(scope, Counter())[change.client] += 1
        for scope in change.before:
            providers = self._providers[scope]
            providers[change.client] -= 1
            if not providers[change.client]:
                del providers[change.client]
            if not providers:
                del self._providers[scope]
        return change

    def _differs(self, neighbour: str, client: str) -> bool:
        wanted, known = self.desired(neighbour, client), self._sent[neighbour].get(client)
        return wanted is not known and wanted != known

    def _all_scopes(self, client: str) -> Iterator[str]:
        return (scope for entry in self._rows[client].values() for scope in _scopes(entry))

    def _mark(self, client: str, source: str) -> None:
        """What comes from a neighbour changes nothing that it is told."""
        for neighbour, changed in self._changed.items():
            if neighbour != source:
                changed[client] = None


def _best(entries: Iterable[Entry]) -> Entry | None:
    best: Entry | None = None
    for entry in entries:
        if best is None or _rank(entry) < _rank(best):
            best = entry
    return best


def _exported(entry: Entry, scopes: frozenset[str]) -> Entry | None:
    """What another domain may see of it: of providers, these scopes and what they need of them."""
    seen = tuple(scope for scope in _scopes(entry) if scope in scopes)
    if not seen:
        return None
    needs = {scope: needed for scope, needed in entry.advertisement.needs.items() if {scope, *needed} <= scopes}
    return replace(entry, advertisement=replace(entry.advertisement, scopes=seen, needs=needs))


def _replace(total: RunningSum, before: Entry | None, after: Entry | None) -> None:
    if before is not None:
        total.remove(before)
    if after is not None:
        total.add(after)


def _rank(entry: Entry) -> tuple[int, bytes, int]:
    return -entry.advertisement.registration, entry.home.encode(), -entry.version


def _scopes(entry: Entry | None) -> tuple[str, ...]:
    """Those that a provider serves; a consumer's are its own affair."""
    if entry is None or entry.advertisement.role is not Role.PROVIDER:
        return ()
    return tuple(dict.fromkeys(entry.advertisement.scopes))
