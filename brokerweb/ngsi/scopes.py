"""``Fiware-ServicePath``: which scopes of an entity a request is about. Pure.

A path is a scope: ``/temp`` is the scope ``temp``. The root ``/``, like no header, is all of them, and new attributes
are added in ``entries.SCOPE``. ``/a/#`` is ``a`` and all below it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from brokerweb.ngsi.entries import SCOPE
from brokerweb.ngsi.problems import wrong
from overlay.core.errors import shown

MOST_PATHS = 10
_PATH = re.compile(r"(?:/[A-Za-z0-9_]{1,50}){1,10}", re.ASCII)
ROOTS = ("", "/", "/#")


@dataclass(frozen=True, slots=True)
class Scopes:
    """Empty: all scopes."""

    exact: frozenset[str] = frozenset()
    below: tuple[str, ...] = ()
    """Beginnings with a slash at the end."""
    home: str = SCOPE
    """Where attributes are added."""

    def __contains__(self, scope: object) -> bool:
        if not self.exact and not self.below:
            return True
        return scope in self.exact or (isinstance(scope, str) and scope.startswith(self.below or "\n"))


EVERYWHERE = Scopes()


def scopes_of(header: str, *, is_write: bool) -> Scopes:
    """Raises ``Problem``."""
    paths = [one.strip() for one in header.split(",")]
    if len(paths) > (1 if is_write else MOST_PATHS):
        raise wrong(f"Fiware-ServicePath: at most {1 if is_write else MOST_PATHS} paths here, not {len(paths)}.")
    if any(path in ROOTS for path in paths):
        return EVERYWHERE
    exact, below = set(), []
    for path in paths:
        scope = path.removesuffix("/#").removesuffix("/")
        if not _PATH.fullmatch(scope) or (is_write and path.endswith("#")):
            raise wrong(f"Fiware-ServicePath: {shown(path)} is no path such as /madrid/gardens.")
        exact.add(scope[1:])
        if path.endswith("/#"):
            below.append(f"{scope[1:]}/")
    return Scopes(frozenset(exact), tuple(below), paths[0].removesuffix("/")[1:])
