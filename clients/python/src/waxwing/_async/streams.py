"""Server-sent events over connections that may break."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, Callable, Collection, Mapping

from waxwing._async.transport import AsyncTransport
from waxwing.calls import Call
from waxwing.errors import NoConnection, TooMany
from waxwing.hosted import EVENTS, ended, watching
from waxwing.retries import stream_pause_s
from waxwing.sse import Event, EventReader


async def events(
    transport: AsyncTransport,
    asked: Callable[[str], Call],
    names: Collection[str],
    *,
    last_id: str,
    silence_s: float,
    restarting: Collection[str] = (),
) -> AsyncGenerator[Event, None]:
    """Events with these ``names``, for ever. A connection that breaks, or is silent for ``silence_s``, is replaced by
    ``asked(id)`` of the last event; after an event in ``restarting``, by ``asked("")``.

    Raises ``ApiError`` for what the server refuses, ``NoConnection`` after ``Retry.attempts`` failures in a row.
    """
    reader, failures = EventReader(last_id), 0
    while True:
        try:
            async with contextlib.aclosing(_once(transport, asked(reader.last_id), reader, silence_s)) as found:
                async for event in found:
                    if event.name not in names:
                        continue
                    failures = 0
                    yield event
                    if event.name in restarting:
                        reader.last_id = ""
                        break
        except (NoConnection, TooMany):
            failures += 1
            if failures >= transport.retry.attempts:
                raise
        await asyncio.sleep(stream_pause_s(reader.retry_s, failures, random.random()))


async def hosted(
    transport: AsyncTransport, network: str, begins: Mapping[str, str], *, last_id: str, silence_s: float
) -> AsyncGenerator[Event, None]:
    """Events of subscriptions (``waxwing.hosted.ids_of``) until all of them have ended. As ``events``."""
    left = dict.fromkeys(begins)

    def asked(after: str) -> Call:
        return watching(network, left, after)

    begin = last_id or next(iter(begins.values()))
    found = events(transport, asked, EVENTS, last_id=begin, silence_s=silence_s)
    async with contextlib.aclosing(found) as several:
        async for event in several:
            yield event
            left.pop(ended(event) or "", None)
            if not left:
                return


async def _once(
    transport: AsyncTransport, asked: Call, reader: EventReader, silence_s: float
) -> AsyncGenerator[Event, None]:
    reader.reconnected()
    async with transport.lines(asked, silence_s) as lines:
        async for line in lines:
            event = reader.feed(line)
            if event is not None:
                yield event
