"""Converts filters of runs, parsed by ``telemetry.filters``, to queries, for pages, REST and commands."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.db.models import Q

from brokerweb.experiments.models import Run, RunQuerySet
from brokerweb.runlist.fields import FIELDS, Field
from telemetry.filters import (
    Among,
    And,
    Comparison,
    Everything,
    InvalidFilter,
    Node,
    Not,
    Or,
    Words,
    did_you_mean,
    parse,
)
from telemetry.filters.errors import InvalidValue
from telemetry.filters.moments import span
from telemetry.filters.tree import ORDERED
from telemetry.filters.values import ANY, NONE, choice, flag, quantity

_LOOKUPS = {"=": "exact", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


def runs_matching(text: str, now: datetime) -> RunQuerySet:
    """The runs that match ``text``. Raises ``InvalidFilter``."""
    return Run.objects.filter(condition(parse(text), now))


def named_fields(tree: Node) -> set[str]:
    """The fields used in a filter."""
    match tree:
        case Not(part):
            return named_fields(part)
        case And(parts) | Or(parts):
            return {name for part in parts for name in named_fields(part)}
        case Comparison() | Among():
            return {tree.field.lower()}
    return set()


def condition(tree: Node, now: datetime) -> Q:
    """The tree as a condition on ``Run``, without joins that duplicate rows. Raises ``InvalidFilter``."""
    match tree:
        case Everything():
            return Q()
        case Words(text):
            return Q(experiment__name__icontains=text) | Q(topology_name__icontains=text) | Q(pk=text)
        case Not(part):
            return ~condition(part, now)
        case And(parts):
            return Q.create([condition(part, now) for part in parts])
        case Or(parts):
            return Q.create([condition(part, now) for part in parts], connector=Q.OR)
        case Among():
            return Q.create([_comparison(one, now) for one in tree.comparisons()], connector=Q.OR)
        case Comparison():
            return _comparison(tree, now)


def _comparison(asked: Comparison, now: datetime) -> Q:
    field = FIELDS.get(asked.field.lower())
    if field is None:
        raise InvalidFilter(asked.at, f"unknown field “{asked.field:.40}”{did_you_mean(asked.field, FIELDS)}")
    _check_operator(field, asked)
    found = _condition(field, asked, now)
    return found & Q(system__in=field.systems) if field.systems else found


def _condition(field: Field, asked: Comparison, now: datetime) -> Q:
    if asked.value.lower() in (NONE, ANY) and asked.op in ("=", "!=") and field.is_nullable:
        is_absent = (asked.value.lower() == NONE) == (asked.op == "=")
        return _absent(field) if is_absent else ~_absent(field)
    try:
        if asked.op == "!=":
            return _differs(field, _compared(field, "=", asked.value, now))
        return _compared(field, asked.op, asked.value, now)
    except InvalidValue as error:
        raise InvalidFilter(asked.value_at, f"in {field.name}, {error.sentence}") from None


def _check_operator(field: Field, asked: Comparison) -> None:
    if asked.op in ORDERED and field.what not in ("number", "moment"):
        raise InvalidFilter(asked.at, f"“{field.name}” does not support “{asked.op}”; use =, != or ~")
    if asked.op == "~" and field.what in ("number", "moment", "flag", "given"):
        raise InvalidFilter(asked.at, f"“{field.name}” does not support “~” (contains); use =, < or >")


def _differs(field: Field, same: Q) -> Q:
    """Missing figures do not match !=; runs without a host do."""
    return ~same & ~_absent(field) if field.what in ("number", "moment") else ~same


def _absent(field: Field) -> Q:
    if field.what == "tag":
        return ~Q(pk__in=Run.tags.through.objects.values("run_id"))
    if field.what in ("text", "choice") and not field.path.startswith("configuration__"):
        return Q(**{f"{field.path}__isnull": True}) | Q(**{field.path: ""})
    return Q(**{f"{field.path}__isnull": True})


def _compared(field: Field, op: str, text: str, now: datetime) -> Q:
    """Raises ``InvalidValue``."""
    return _COMPARED[field.what](field, op, text, now)


def _is(path: str, lookup: str, value: object) -> Q:
    """False instead of NULL for runs without a value, so that a negation matches them."""
    return Q(**{f"{path}__isnull": False}) & Q(**{f"{path}__{lookup}": value})


def _number(field: Field, op: str, text: str, now: datetime) -> Q:
    return _is(field.path, _LOOKUPS[op], quantity(text, field.unit))


def _text(field: Field, op: str, text: str, now: datetime) -> Q:
    lookup = "icontains" if op == "~" else "iexact"
    return Q.create([_is(path, lookup, text) for path in field.paths], connector=Q.OR)


def _choice(field: Field, op: str, text: str, now: datetime) -> Q:
    if op == "~":
        return _text(field, op, text, now)
    return _is(field.path, "exact", choice(text, field.choices))


def _flag(field: Field, op: str, text: str, now: datetime) -> Q:
    return _is(field.path, "exact", flag(text))


def _given(field: Field, op: str, text: str, now: datetime) -> Q:
    """Whether a value is present in a document."""
    is_empty = Q(**{field.path: {}})
    return ~is_empty if flag(text) else is_empty


def _tag(field: Field, op: str, text: str, now: datetime) -> Q:
    lookup = "icontains" if op == "~" else "iexact"
    return Q(pk__in=Run.tags.through.objects.filter(**{f"tag__name__{lookup}": text}).values("run_id"))


def _moment(field: Field, op: str, text: str, now: datetime) -> Q:
    begin, end = span(text, now)
    if op == "=":
        return _is(field.path, "gte", begin) & _is(field.path, "lt" if begin < end else "lte", end)
    bound = end if op in (">", "<=") else begin
    lookup = {">": "gte", ">=": "gte", "<": "lt", "<=": "lt"}[op] if begin < end else _LOOKUPS[op]
    return _is(field.path, lookup, bound)


_COMPARED: dict[str, Callable[[Field, str, str, datetime], Q]] = {
    "number": _number,
    "text": _text,
    "choice": _choice,
    "flag": _flag,
    "given": _given,
    "tag": _tag,
    "moment": _moment,
}
