"""Expressions evaluated as section 5 of seed 001 says it, without compiling anything."""

from __future__ import annotations

from overlay.systems.federation.language.tree import And, Not, Or


def satisfies(expression, note):
    match expression:
        case And(parts):
            return all(satisfies(part, note) for part in parts)
        case Or(parts):
            return any(satisfies(part, note) for part in parts)
        case Not(part):
            return not satisfies(part, note)
    found = values(note, expression.name)
    if expression.operator == "exists":
        return bool(found)
    return any(compare(one, expression.operator, expression.constants) for value in found for one in flat(value))


def values(note, name):
    """All values that ``name`` leads to."""
    known = {"scope": note.scope, "entity.type": note.entity_type, "entity.id": note.entity_id}
    known["timestamp"] = note.timestamp
    if name in known:
        return [known[name]]
    layer = [note.data]
    for part in name.split("."):
        layer = [one for value in layer for one in ([value] if value is note.data else flat(value))]
        layer = [value[part] for value in layer if isinstance(value, dict) and part in value]
    return layer


def flat(value):
    return [inner for one in value for inner in flat(one)] if isinstance(value, list) else [value]


def kind(value):
    return "number" if type(value) in (int, float) else type(value)


def compare(value, operator, constants):
    if operator == "in":
        return any(compare(value, "=", (one,)) for one in constants)
    if isinstance(value, dict) or any(kind(value) != kind(one) for one in constants):
        return False
    first = constants[0]
    if operator in ("=", "!="):
        return (value == first) == (operator == "=")
    if operator in ("prefix", "contains"):
        return isinstance(value, str) and (value.startswith(first) if operator == "prefix" else first in value)
    if isinstance(value, bool):
        return False
    if operator == "between":
        return constants[0] <= value <= constants[1]
    return {"<": value < first, "<=": value <= first, ">": value > first, ">=": value >= first}[operator]
