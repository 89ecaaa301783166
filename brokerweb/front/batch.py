"""Many operations on the context of one network in one request.

Each for itself, or ``atomic``: then all are checked before any is sent, they are sent in their order, and the first
that fails ends the batch. What was stored or deleted by then stays so; the answer says which.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings
from rest_framework.exceptions import APIException

from brokerweb.api import errors
from brokerweb.front.replies import Reply, reply
from brokerweb.front.service import ContextRequest, Service, context_of, unconditional
from brokerweb.kit import error_body
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.systems.contract import Absent, Context, How, Key
from overlay.core.errors import InvalidSetting, shown

MOST = 1_000
"""Operations of a batch."""
OPERATIONS = frozenset({"get", "put", "delete"})
"""Those that a batch may have."""
AT_ONCE = 32
READ_AT_ONCE = 8
"""Operations that are read without a pause; one that is wrong takes 0.7 ms."""
LONGEST_S = 30.0
"""Time for a batch; what was not sent by then fails."""
MOST_ERRORS = 100
"""Errors that one answer lists."""
NOT_SENT = {"status": 424, **error_body.body([("", "not_sent", "An earlier operation of this batch failed.")])}

Result = dict[str, Any]
Mistakes = (InvalidSetting, NotPossible, NotAnswered, APIException)


@dataclass(frozen=True, slots=True)
class Item:
    """One operation, read."""

    op: str
    key: Key
    change: Any = None
    """Of a ``put``: what the system read."""
    which: Mapping[str, str] = field(default_factory=dict)
    """Of a ``delete``: those of ``Context.of_delete``."""


class Batch:
    """One batch. ``service`` has the locks and the waiting requests."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._end = 0.0
        """When its time is over, on the clock of the event loop."""

    async def post(self, asked: ContextRequest) -> Reply:
        """Status 200 with one result per operation. Raises errors of services and of REST."""
        context = context_of(asked.snapshot, "put")
        is_atomic, operations = _read(asked.data)
        self._end = asyncio.get_running_loop().time() + LONGEST_S
        items = await _items(context, operations)
        if not is_atomic:
            return _answered(await self._each(asked, context, items))
        wrong = [(number, one) for number, one in enumerate(items) if isinstance(one, dict)]
        if wrong:
            return reply(400, _together(wrong))
        return await self._in_order(asked, context, items)

    async def _each(self, asked: ContextRequest, context: Context, items: Sequence[Item | Result]) -> list[Result]:
        """Those about the same piece in their order, the others at the same time."""
        results: list[Result] = [one if isinstance(one, dict) else {} for one in items]
        groups: dict[Key, list[tuple[int, Item]]] = {}
        for number, one in enumerate(items):
            if isinstance(one, Item):
                groups.setdefault(one.key, []).append((number, one))
        slots = asyncio.Semaphore(AT_ONCE)

        async def carry_out(group: list[tuple[int, Item]]) -> None:
            for number, item in group:
                async with slots:
                    results[number] = await self._result(asked, context, item)

        await asyncio.gather(*map(carry_out, groups.values()))
        return results

    async def _in_order(self, asked: ContextRequest, context: Context, items: Sequence[Item | Result]) -> Reply:
        results: list[Result] = []
        done = 0
        for one in items:
            assert isinstance(one, Item)
            result = await self._result(asked, context, one)
            results.append(result)
            if one.op != "get" and result["status"] != 200:
                place = f"operations.{len(results) - 1}"
                results += [NOT_SENT] * (len(items) - len(results))
                sentence = f"{result['sentence']} Operations carried out before this one, which are not undone: {done}."
                said = error_body.body([(place, result["code"], sentence)])
                return reply(result["status"], {**said, "results": results})
            done += one.op != "get"
        return _answered(results)

    async def _result(self, asked: ContextRequest, context: Context, item: Item) -> Result:
        left_s = self._end - asyncio.get_running_loop().time()
        how = How(min(settings.CONTEXT_DEADLINE_SECONDS, left_s))
        about = asked.snapshot.network, item.key
        try:
            if left_s <= 0:
                raise NotAnswered(f"The batch took longer than {LONGEST_S:g} s; this operation was not sent.")
            if item.op == "get":
                return {"status": 200, **(await context.get(asked.snapshot, item.key, how)).body}
            async with self._service.locks.of(about):
                if item.op == "delete":
                    deleted = await context.delete(asked.snapshot, item.key, item.which, how, unconditional)
                    return {"status": 200, **deleted.body}
                taken = await context.put(asked.snapshot, item.change, how)
        except Absent as absent:
            return {"status": 404, **error_body.body([("", "not_found", str(absent))])}
        except Mistakes as mistake:
            return _failed(mistake)
        self._service.waiters.stored(about)
        return {"status": 200, **taken.body}


def operations_of(data: Any) -> int:
    """How many operations the body of a batch has, if it is one; beyond ``MOST`` it is refused."""
    operations = data.get("operations") if isinstance(data, dict) else None
    return min(len(operations), MOST) if isinstance(operations, list) else 0


def _answered(results: Sequence[Result]) -> Reply:
    """Not final if an operation may succeed when the batch is sent again."""
    return replace(reply(200, {"results": results}), is_final=all(one["status"] < 500 for one in results))


def _read(data: Any) -> tuple[bool, Sequence[Any]]:
    """Raises ``InvalidSetting``."""
    if not isinstance(data, dict):
        raise InvalidSetting("", f"The body must be an object, not {shown(data)}.")
    for name in data:
        if name not in ("atomic", "operations"):
            raise InvalidSetting(f"{name:.40}", "unknown field; known fields: atomic, operations")
    is_atomic, operations = data.get("atomic", False), data.get("operations")
    if not isinstance(is_atomic, bool):
        raise InvalidSetting("atomic", f"must be true or false, not {shown(is_atomic)}")
    if not isinstance(operations, list) or not operations:
        raise InvalidSetting("operations", "must be a list of at least one operation")
    if len(operations) > MOST:
        raise InvalidSetting("operations", f"has {len(operations):,} operations; the limit is {MOST:,}")
    return is_atomic, operations


async def _items(context: Context, operations: Sequence[Any]) -> list[Item | Result]:
    """All of them; other requests are answered in between."""
    items = []
    for number, operation in enumerate(operations, 1):
        items.append(_item(context, operation))
        if number % READ_AT_ONCE == 0:
            await asyncio.sleep(0)
    return items


def _item(context: Context, operation: Any) -> Item | Result:
    """An operation, or its result if it cannot be read."""
    try:
        if not isinstance(operation, dict):
            raise InvalidSetting("", f"must be an object, not {shown(operation)}")
        op, names = operation.get("op"), [str(operation.get(name) or "") for name in context.names]
        known = sorted(context.operations & OPERATIONS)
        if op not in known:
            raise InvalidSetting("op", f"must be one of {', '.join(known)}, not {shown(op)}")
        for name in context.names:
            if not isinstance(operation.get(name), str):
                raise InvalidSetting(name, f"must be a text, not {shown(operation.get(name))}")
        rest = {name: value for name, value in operation.items() if name != "op" and name not in context.names}
        key = context.key(*names)
        if op == "put":
            return Item(op, key, context.read(key, rest))
        which = {name: rest.pop(name) for name in context.of_delete if op == "delete" and name in rest}
        for name, value in which.items():
            if not isinstance(value, str):
                raise InvalidSetting(name, f"must be a text, not {shown(value)}")
        if rest:
            raise InvalidSetting(f"{next(iter(rest)):.40}", f"unknown field of {op}")
        return Item(op, key, None, which)
    except Mistakes as mistake:
        return _failed(mistake)


def _failed(mistake: Exception) -> Result:
    status, body = errors.answer(mistake)
    return {"status": status, **body}


def _together(wrong: Sequence[tuple[int, Mapping[str, Any]]]) -> dict[str, Any]:
    """One error body of those of several operations."""
    return error_body.body(
        (f"operations.{number}.{one['field']}".rstrip("."), one["code"], one["sentence"])
        for number, result in wrong[:MOST_ERRORS]
        for one in result["errors"]
    )
