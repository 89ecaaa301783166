"""Many changes at the same time, in the order of the request for each entity, within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from rest_framework.exceptions import APIException

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.ngsi.problems import Kind, Problem
from brokerweb.ngsi.translated import problem_of
from overlay.core.errors import InvalidSetting

MOST = 1_000
"""Entities of one request."""
AT_ONCE = 32
LONGEST_S = 30.0
"""Time for all; what has not begun by then fails."""
T = TypeVar("T")


async def each(
    items: Sequence[T], place: Callable[[T], str], carry_out: Callable[[T], Awaitable[object]]
) -> list[Problem | None]:
    """Why each failed; ``None`` for those that did not."""
    slots = asyncio.Semaphore(AT_ONCE)
    end = asyncio.get_running_loop().time() + LONGEST_S
    results: list[Problem | None] = [None] * len(items)
    groups: dict[str, list[int]] = {}
    for number, item in enumerate(items):
        groups.setdefault(place(item), []).append(number)

    async def in_order(numbers: list[int]) -> None:
        for number in numbers:
            async with slots:
                results[number] = await _failure(carry_out, items[number], end)

    await asyncio.gather(*map(in_order, groups.values()))
    return results


async def _failure(carry_out: Callable[[T], Awaitable[object]], item: T, end: float) -> Problem | None:
    if asyncio.get_running_loop().time() > end:
        return Problem(Kind.UNANSWERED, f"The request took longer than {LONGEST_S:g} s; this entity was not sent.")
    try:
        await carry_out(item)
    except Problem as problem:
        return problem
    except (InvalidSetting, NotPossible, NotAnswered, APIException) as error:
        return problem_of(error)
    return None
