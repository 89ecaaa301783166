"""What says no to a notification: the first constraint of the content, or the part of a function (spec, section 7).

Counterpart: ``Tables.route`` decides the same, and says nothing.
"""

from __future__ import annotations

from overlay.core.errors import shown
from overlay.systems.silbops.content.constraints import satisfies
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.evaluation import ScopeError, holds
from overlay.systems.silbops.scope.text import formatted
from overlay.systems.silbops.scope.tree import PUBLISHER, SUBSCRIBER, Tree, variables
from overlay.systems.silbops.tables.rows import Context, Subscription


def objection(
    one: Subscription, own: Context | None, notification: Values, context: Values, admit: Tree | None = None
) -> str:
    """Of a subscription whose owner has the context ``own``; empty if it is satisfied. ``context`` and ``admit`` are
    the publisher's."""
    values = {} if own is None else own.values
    found = _of_filter(one.filter, notification)
    if not found and one.scope is not None:
        found = "the subscriber has set no context" if own is None else _of_function(one.scope, context, values)
    if not found and admit is not None:
        found = _of_function(admit, context, values)
        found = f"function of the publisher: {found}" if found else ""
    return found


def _of_filter(one: Filter, notification: Values) -> str:
    for part in one:
        if part.name not in notification:
            return f"{part.name} is missing"
        value = notification[part.name]
        if not satisfies(value, part):
            wanted = part.op if part.value is None else f"{part.op} {shown(part.value)}"
            return f"{part.name} is {shown(value)}, not {wanted}"
    return ""


def _of_function(tree: Tree, pub: Values, this: Values) -> str:
    for side, name, known in ((PUBLISHER, "pub", pub), (SUBSCRIBER, "this", this)):
        missing = [one for one in variables(tree, side) if one not in known]
        if missing:
            return f"{name}.{missing[0]} is missing"
    try:
        if holds(tree, pub, this):
            return ""
        parts = tree[1:] if tree[0] == "and" else (tree,)
        part = next(one for one in parts if not holds(one, pub, this))
    except ScopeError as error:
        return str(error)
    return f"{formatted(part)} is false"
