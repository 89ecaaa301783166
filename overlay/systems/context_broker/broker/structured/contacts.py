"""The other brokers that one knows: buckets by distance, each of bounded size (Kademlia, section 2.2).

A bucket holds those whose identifiers agree with ours in equally many leading bits. The half of all brokers farthest
from us share one bucket, the next quarter another, so that we know much of our surroundings and a little of everything.
A full bucket takes nobody new: who has been there long is the likeliest to stay (section 2.2 again).
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from heapq import nsmallest

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.structured.identifiers import bucket_of, of_broker

Known = tuple[int, Address]
"""A broker by its identifier."""


def keepers_among(known: Iterable[Known], target: int, count: int) -> list[Address]:
    """Those of ``known`` that are to keep what lies at ``target``, the closest first."""
    return [address for _, address in nsmallest(count, [(identifier ^ target, broker) for identifier, broker in known])]


class Contact:
    """``due`` is when to make sure of it; ``in_doubt`` whether it owes an answer and is not to be relied on."""

    __slots__ = ("address", "bucket", "due", "id", "in_doubt")

    def __init__(self, address: Address, own_id: int, due: int) -> None:
        self.address = address
        self.id = of_broker(address)
        self.bucket = bucket_of(self.id, own_id)
        self.due = due
        self.in_doubt = False


class Contacts:
    """Of the broker at ``own``; the contact heard of longest ago comes first."""

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
        """Whether it is unknown and its bucket not full; never for ourselves."""
        if address in self._contacts or address == self.own:
            return False
        return self._sizes[bucket_of(of_broker(address), self.own_id)] < self._bucket_size

    def add(self, address: Address, due: int) -> None:
        """One that there is room for. ``due`` must not lie before that of any other."""
        contact = self._contacts[address] = Contact(address, self.own_id, due)
        self._sizes[contact.bucket] += 1

    def hear(self, contact: Contact, due: int) -> None:
        """It lives. ``due`` as above."""
        contact.due = due
        contact.in_doubt = False
        self._contacts.move_to_end(contact.address)

    def postpone(self, contact: Contact, due: int) -> None:
        """Make sure of it later. ``due`` as above."""
        contact.due = due
        self._contacts.move_to_end(contact.address)

    def remove(self, address: Address) -> bool:
        """Whether it was one."""
        contact = self._contacts.pop(address, None)
        if contact is None:
            return False
        self._sizes[contact.bucket] -= 1
        return True

    def clear(self) -> None:
        self._contacts.clear()
        self._sizes.clear()

    def first(self) -> Contact | None:
        """The one to make sure of first."""
        return next(iter(self._contacts.values()), None)

    def closest(self, target: int, count: int, but: Address | None = None) -> list[Address]:
        """The reliable ones closest to ``target``, the closest first."""
        reliable = (c for c in self._contacts.values() if not c.in_doubt and c.address != but)
        return [contact.address for contact in nsmallest(count, reliable, key=lambda contact: contact.id ^ target)]

    def doubtful(self) -> list[Address]:
        """Those that owe an answer."""
        return [contact.address for contact in self._contacts.values() if contact.in_doubt]

    def known(self) -> list[Known]:
        """All of them and ourselves, in doubt or not."""
        return [(self.own_id, self.own), *((contact.id, contact.address) for contact in self._contacts.values())]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where a bucket overflows, is miscounted or holds ourselves, or the order is off."""
        assert Counter([contact.bucket for contact in self._contacts.values()]) == +self._sizes
        assert max(self._sizes.values(), default=0) <= self._bucket_size
        assert self.own not in self._contacts
        dues = [contact.due for contact in self._contacts.values()]
        assert dues == sorted(dues)
