"""Writes the change log. Services record what they do with ``recorded`` or ``logged``, in their own transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction

from brokerweb.changelog.difference import bounded, difference
from brokerweb.changelog.models import Change
from brokerweb.kit.origin import origin

Function = TypeVar("Function", bound=Callable[..., Any])
CREATE, CHANGE, DELETE = "create", "change", "delete"
recording: ContextVar[bool] = ContextVar("recording", default=False)
"""Whether a service records what happens now."""


@dataclass(frozen=True)
class Subject:
    """A kind of object: what is compared of it, never a secret."""

    kind: str
    state: Callable[[Any], Mapping[str, Any]]
    key: str = "pk"
    """The attribute with its id in REST."""


SUBJECTS: dict[type[models.Model], Subject] = {}
"""By model: what the admin's forms may change."""


def subject(
    model: type[models.Model],
    kind: str,
    *fields: str,
    state: Callable[[Any], Mapping[str, Any]] | None = None,
    key: str = "pk",
) -> None:
    """Declare a kind of object, by the fields that are compared or by a function."""

    def of_fields(row: models.Model) -> dict[str, Any]:
        return {name: getattr(row, name) for name in fields}

    SUBJECTS[model] = Subject(kind, state or of_fields, key)


def key_of(row: models.Model) -> str:
    """Its id in the log."""
    return str(getattr(row, SUBJECTS[type(row)].key))


def state_of(row: models.Model) -> dict[str, Any]:
    """What is compared, as stored now; empty if the row is not stored."""
    stored = type(row)._base_manager.filter(pk=row.pk).first()
    return {} if stored is None else _plain(SUBJECTS[type(row)].state(stored))


def _plain(state: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(state, cls=DjangoJSONEncoder, default=str))
    return plain


@dataclass
class Record:
    """What a service adds to its record."""

    row: models.Model | None = None
    """The object, once it exists."""
    said: dict[str, Any] = field(default_factory=dict)
    """Further facts, such as the number of launched runs. A change that changes no value is recorded only with some."""


@contextmanager
def recorded(action: str, row: models.Model | None = None, by: Any = None) -> Iterator[Record]:
    """A transaction whose effect on ``row`` is recorded at its end; on an error nothing is. ``by``: the user, outside
    requests.
    """
    with transaction.atomic():
        record = Record(row)
        before = {} if row is None else state_of(row)
        known = None if row is None else (key_of(row), str(row))
        entered = recording.set(True)
        try:
            yield record
        finally:
            recording.reset(entered)
        if (kept := record.row) is None:
            return
        was, now = difference(before, state_of(kept))
        if was or now or record.said:
            pk, name = known or (key_of(kept), str(kept))
            say(SUBJECTS[type(kept)].kind, pk, name, action, was, {**now, **record.said}, by)


def logged(action: str, by: str = "by") -> Callable[[Function], Function]:
    """Record what a service does to the object that is its first argument, or that it returns. ``by`` names the
    argument with the user, for services that are called outside requests.
    """

    def wrap(service: Function) -> Function:
        called = signature(service)

        @wraps(service)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            row = args[0] if args and isinstance(args[0], models.Model) and type(args[0]) in SUBJECTS else None
            with recorded(action, row, called.bind(*args, **kwargs).arguments.get(by)) as record:
                result = service(*args, **kwargs)
                if row is None and type(result) in SUBJECTS:
                    record.row = result
            return result

        return wrapper  # type: ignore[return-value]

    return wrap


def say(
    kind: str,
    pk: Any,
    name: str,
    action: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    by: Any = None,
) -> None:
    """Record a change whose two sides are known, in the current transaction."""
    say_all([(kind, str(pk), name)], action, before, after, by)


def say_all(
    objects: Iterable[tuple[str, str, str]],
    action: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    by: Any = None,
) -> None:
    """The same change of many objects: kind, id and name of each."""
    came = origin()
    request: Any = came.request
    user = getattr(request, "user", None)
    user = user if user is not None and user.is_authenticated else by
    bearer = getattr(request, "bearer", None)
    common = {
        "by_id": user.pk if user else None,
        "who": user.get_username() if user else "",
        "token": bearer[1].token_key if bearer else "",
        "source": came.source,
        "request_id": came.request_id,
        "action": action,
        "before": bounded(_plain(before or {})),
        "after": bounded(_plain(after or {})),
    }
    rows = (Change(kind=kind, object_id=pk, name=name[:200], **common) for kind, pk, name in objects)
    Change.objects.bulk_create(rows, batch_size=500)
