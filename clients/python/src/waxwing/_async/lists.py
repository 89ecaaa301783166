"""Lists of the API, page by page."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

from waxwing._async.transport import AsyncTransport
from waxwing.calls import Query, call
from waxwing.errors import NotFound, Problem, UnexpectedAnswer
from waxwing.records import Raw, Records, T

LIMIT = 1_000
"""Objects that ``list`` returns unless told otherwise."""


async def rows(
    transport: AsyncTransport, path: str, query: Query, *, cursor: bool = True, page_size: int | None = 100
) -> AsyncIterator[Raw]:
    """All rows. ``cursor``: whether the list has cursors, so that rows that are added meanwhile move none."""
    asked = call("GET", path, query={"page_size": page_size, **query, **({"cursor": ""} if cursor else {})})
    while True:
        page = (await transport.send(asked)).data
        if not isinstance(page, dict) or not isinstance(page.get("results"), list):
            raise UnexpectedAnswer(f"{path} is no list of this API")
        for row in page["results"]:
            yield row
        if not page.get("next"):
            return
        following = urlsplit(page["next"])  # its host is the server's view of itself
        asked = call("GET", f"{following.path}?{following.query}")


async def listed(
    transport: AsyncTransport, kind: type[T], path: str, limit: int | None, query: Query, *, cursor: bool = True
) -> Records[T]:
    """The first ``limit`` objects; all with ``None``."""
    found: Records[T] = Records()
    if limit is not None and limit <= 0:
        return found
    if limit is not None and limit < 100:
        query = {"page_size": limit, **query}
    async for row in rows(transport, path, query, cursor=cursor):
        found.append(kind.of(row))
        if limit is not None and len(found) >= limit:
            break
    return found


@contextlib.contextmanager
def named(kind: str, name: str) -> Iterator[None]:
    """Says what was looked for if it is not there."""
    try:
        yield
    except NotFound as error:
        sentence = f"No {kind} has the id or the name {name!r}."
        raise NotFound(error.status, [Problem(error.field, error.code, sentence)], error.headers) from None
