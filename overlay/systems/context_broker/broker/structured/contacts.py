"""Contacts: the brokers that a broker knows, in buckets by distance, each of bounded size (Kademlia, section 2.2).

A bucket has the contacts whose identifiers share the same number of leading bits with ours. The farthest half of all
brokers share one bucket, the next quarter another, and so on. So we know most brokers close to us and a few elsewhere.
A full bucket takes no new contact, because old contacts are the most likely to stay (section 2.2).
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from heapq import nsmallest

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.structured.identifiers import bucket_of, of_broker

Known = tuple[int, Address]
"""A broker: its identifier and its address."""


def keepers_among(known: Iterable[Known], target: int, count: int) -> list[Address]:
    """The brokers of ``known`` that keep the entries at ``target``, closest first."""
    return [address for _, address in nsmallest(count, [(identifier ^ target, broker) for identifier, broker in known])]


class Contact:
    """``due`` is the time of the next check. ``in_doubt``: it owes an answer and is unreliable until it answers."""

    __slots__ = ("address", "bucket", "due", "id", "in_doubt")

    def __init__(self, address: Address, own_id: int, due: int) -> None:
        self.address = address
        self.id = of_broker(address)
        self.bucket = bucket_of(self.id, own_id)
        self.due = due
        self.in_doubt = False


class Contacts:
    """The contacts of the broker with identifier ``own``; the least recently seen contact is first."""

    def __init__(self, own: Address, bucket_size: int) -> None:
        self.own = own
        self.own_id = of_broker(own)
        self._bucket_size = bucket_size
        self._contacts: OrderedDict[Address, Contact] = OrderedDict()
        self._sizes: Counter[int] = Counter()

    def __contains__(self, address: Address) -> bool:
        return address in self._contacts

    def __len__(self) -> int:
        return len(self._contacts)

    def __iter__(self) -> Iterator[Contact]:
        return iter(self._contacts.values())

    def get(self, address: Address) -> Contact | None:
        return self._contacts.get(address)

    def has_room_for(self, address: Address) -> bool:
        """Whether it is unknown and its bucket is not full; false for ourselves."""
        if address in self._contacts or address == self.own:
            return False
        return self._sizes[bucket_of(of_broker(address), self.own_id)] < self._bucket_size

    def add(self, address: Address, due: int) -> None:
        """Add a contact that has room. ``due`` must not be earlier than that of any other."""
        contact = self._contacts[address] = Contact(address, self.own_id, due)
        self._sizes[contact.bucket] += 1

    def hear(self, contact: Contact, due: int) -> None:
        """Record that it is alive. ``due`` as above."""
        contact.due = due
        contact.in_doubt = False
        self._contacts.move_to_end(contact.address)

    def postpone(self, contact: Contact, due: int) -> None:
        """Postpone its check. ``due`` as above."""
        contact.due = due
        self._contacts.move_to_end(contact.address)

    def remove(self, address: Address) -> bool:
        """Remove a contact; whether it was one."""
        contact = self._contacts.pop(address, None)
        if contact is None:
            return False
        self._sizes[contact.bucket] -= 1
        return True

    def clear(self) -> None:
        self._contacts.clear()
        self._sizes.clear()

    def first(self) -> Contact | None:
        """The contact whose check is due first."""
        return next(iter(self._contacts.values()), None)

    def closest(self, target: int, count: int, but: Address | None = None) -> list[Address]:
        """The reliable contacts closest to ``target``, closest first."""
        reliable = (c for c in self._contacts.values() if not c.in_doubt and c.address != but)
        return [contact.address for contact in nsmallest(count, reliable, key=lambda contact: contact.id ^ target)]

    def doubtful(self) -> list[Address]:
        """The contacts that owe an answer."""
        return [contact.address for contact in self._contacts.values() if contact.in_doubt]

    def known(self) -> list[Known]:
        """All contacts, in doubt or not, and ourselves."""
        return [(self.own_id, self.own), *((contact.id, contact.address) for contact in self._contacts.values())]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a bucket is too full, miscounted or has ourselves, or the order is wrong."""
        assert Counter([contact.bucket for contact in self._contacts.values()]) == +self._sizes
        assert max(self._sizes.values(), default=0) <= self._bucket_size
        assert self.own not in self._contacts
        dues = [contact.due for contact in self._contacts.values()]
        assert dues == sorted(dues)
