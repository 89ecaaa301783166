"""Contexts of publishers that were told apart from their publications (PCTX), by the link that they came by.

Each link has its own, as the first in, first out of a link makes a publication find the context that was told before
it, also while a publisher moves.
"""

from __future__ import annotations

from overlay.systems.silbops.content.values import Values, is_same
from overlay.systems.silbops.tables.rows import Context, Link, Owner


class Announced:
    def __init__(self) -> None:
        self._contexts: dict[Owner, dict[Link, Context]] = {}
        """The newest last."""

    def __len__(self) -> int:
        return sum(map(len, self._contexts.values()))

    def put(self, link: Link, owner: Owner, context: Context) -> None:
        several = self._contexts.setdefault(owner, {})
        several.pop(link, None)
        several[link] = context

    def renew(self, link: Link, owner: Owner, values: Values) -> Context | None:
        """Of an own publisher; ``None`` if it is the known one."""
        known = self.get(link, owner)
        if known is not None and is_same(known.values, values):
            return None
        return Context(1 if known is None else known.version + 1, values)

    def get(self, link: Link, owner: Owner) -> Context | None:
        return self._contexts.get(owner, {}).get(link)

    def of_others(self, link: Link, owner: Owner) -> Context | None:
        """The newest that came by another link."""
        return next((one for by, one in reversed(self._contexts.get(owner, {}).items()) if by != link), None)

    def drop(self, link: Link, owner: Owner) -> bool:
        """Whether there was one."""
        several = self._contexts.get(owner, {})
        is_known = several.pop(link, None) is not None
        if is_known and not several:
            del self._contexts[owner]
        return is_known
