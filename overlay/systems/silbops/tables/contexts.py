"""The context manager: the newest context of each client, and the links by which it came."""

from __future__ import annotations

from collections.abc import Iterator

from overlay.systems.silbops.scope.compiling import Function
from overlay.systems.silbops.tables.columns import Columns
from overlay.systems.silbops.tables.rows import Context, Known, Link, Owner


class Contexts:
    def __init__(self, columns: Columns | None = None) -> None:
        """``columns``: to be kept up to date."""
        self.columns = columns
        self._known: dict[Owner, Known] = {}
        """Clients with a context, or whose rows read one."""
        self._of_link: dict[Link, dict[Owner, None]] = {}
        self._number = 0

    def __len__(self) -> int:
        return self._number

    def get(self, owner: Owner) -> Context | None:
        known = self._known.get(owner)
        return None if known is None else known.context

    def __iter__(self) -> Iterator[tuple[Owner, Context]]:
        for owner, known in self._known.items():
            if known.context is not None:
                yield owner, known.context

    def put(self, owner: Owner, context: Context, link: Link) -> bool:
        """Whether it is newer than what was known. If not, only the link is noted."""
        known = self._known.get(owner) or self._enter(owner)
        if link not in known.links:
            known.links += (link,)
            self._of_link.setdefault(link, {})[owner] = None
        if known.context is None:
            self._number += 1
        elif context.version <= known.context.version:
            return False
        known.context, known.values = context, context.values
        if self.columns is not None:
            self.columns.write(known.slot, context.values)
        return True

    def take_off(self, owner: Owner, link: Link) -> bool:
        """It comes by this link no longer. Whether it is gone, as that was the last link."""
        known = self._known.get(owner)
        if known is None or link not in known.links:
            return False
        known.links = tuple(one for one in known.links if one != link)
        del self._of_link[link][owner]
        if not self._of_link[link]:
            del self._of_link[link]
        if known.links:
            return False
        self._number -= 1
        known.context = known.values = None
        if self.columns is not None:
            self.columns.write(known.slot, {})
        self._leave(known)
        return True

    def of_link(self, link: Link) -> list[Owner]:
        """Those that came by it."""
        return list(self._of_link.get(link, ()))

    def read(self, owner: Owner, function: Function) -> Known:
        """By one more row, until ``unread``."""
        known = self._known.get(owner) or self._enter(owner)
        known.readers += 1
        if self.columns is not None and function.intervals is not None:
            self.columns.cover(function.intervals, self._known.values())
        return known

    def unread(self, known: Known) -> None:
        known.readers -= 1
        self._leave(known)

    def _enter(self, owner: Owner) -> Known:
        slot = 0 if self.columns is None else self.columns.take()
        known = self._known[owner] = Known(owner, slot)
        return known

    def _leave(self, known: Known) -> None:
        if not known.links and not known.readers:
            del self._known[known.owner]
            if self.columns is not None:
                self.columns.release(known.slot)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        several = self._known.values()
        assert self._number == sum(one.context is not None for one in several)
        assert all((one.context is None) == (not one.links) and (one.links or one.readers) for one in several)
        links = {link: {one.owner for one in several if link in one.links} for link in self._of_link}
        assert links == {link: set(owners) for link, owners in self._of_link.items()}
