"""The context manager: the newest context of each client, and the links by which it came."""

from __future__ import annotations

from overlay.systems.silbops.tables.rows import Context, Link, Owner


class Contexts:
    def __init__(self) -> None:
        self._contexts: dict[Owner, Context] = {}
        self._links: dict[Owner, set[Link]] = {}

    def __len__(self) -> int:
        return len(self._contexts)

    def get(self, owner: Owner) -> Context | None:
        return self._contexts.get(owner)

    def put(self, owner: Owner, context: Context, link: Link) -> bool:
        """Whether it is newer than what was known. If not, only the link is noted."""
        self._links.setdefault(owner, set()).add(link)
        known = self._contexts.get(owner)
        if known is not None and context.version <= known.version:
            return False
        self._contexts[owner] = context
        return True

    def take_off(self, owner: Owner, link: Link) -> bool:
        """It comes by this link no longer. Whether it is gone, as that was the last link."""
        links = self._links.get(owner)
        if links is None or link not in links:
            return False
        links.discard(link)
        if links:
            return False
        del self._links[owner], self._contexts[owner]
        return True

    def of_link(self, link: Link) -> list[Owner]:
        """Those that came by it."""
        return [owner for owner, links in self._links.items() if link in links]

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert self._links.keys() == self._contexts.keys()
        assert all(self._links.values())
