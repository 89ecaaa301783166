"""Idempotency keys: a request that creates or launches is carried out once per key, however often it is sent.

``Idempotency-Key`` of draft-ietf-httpapi-idempotency-key-header-07, by account, on the operations whose OpenAPI
description has the header. The answer is stored in the transaction that carries the request out, so that after a crash
there are both or neither. Views with ``commits_itself`` wait for others meanwhile: their answer is stored behind what
they did, and after a crash between both it is done again. Refused requests (400 and above) change nothing and leave
their key free.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import nullcontext, suppress
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import RequestDataTooBig
from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve
from django.utils import timezone
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.settings import api_settings

from brokerweb.accounts.models import Token
from brokerweb.api.errors import answer as answer_to
from brokerweb.api.idempotency_key import HEADER, REPLAYED, InProgress, KeyReused, read_key
from brokerweb.api.models import KeptAnswer
from brokerweb.api.operations import operation_of
from brokerweb.kit.ids import new_id
from overlay.core.errors import InvalidSetting
from overlay.core.hashes import blake2b

View = Callable[[HttpRequest], HttpResponse]

KEPT_FOR = timedelta(hours=24)
MOST_KEPT, MOST_KEPT_BYTES = 1_000, 20_000_000
"""Answers per account, and their compressed size together; beyond, the oldest are forgotten."""
ABANDONED_AFTER = timedelta(seconds=60)
"""A request that began earlier and has no answer is taken over by the next one with its key: its process may be gone.
If it is not, what it did is rolled back. Longer than any request takes.
"""
_COPIED = ("Content-Type", "Location")


class _TakenOver(Exception):
    """Another request with the key carries it out."""


def idempotent(answer: View) -> View:
    """Middleware. Inside the throttle, so that repeated requests count; outside everything that reads the body."""

    def middleware(request: HttpRequest) -> HttpResponse:
        view = _view_with_key(request) if HEADER in request.headers else None
        if view is None:
            return answer(request)
        owner, token = _account(request)
        fingerprint = _fingerprint(request, token)
        if owner is None or fingerprint is None:
            return answer(request)  # which refuses it
        try:
            key = read_key(request.headers[HEADER])
        except InvalidSetting as error:
            return _refused(error)
        now, claim = timezone.now(), ""
        kept = KeptAnswer.objects.filter(owner=owner, key=key).first()  # without the lock that its request may hold
        if kept is None or _is_free(kept, fingerprint, now):
            kept, claim = _claimed(owner, key, fingerprint, now)
        if claim:
            return _carried_out(request, answer, kept, claim, is_whole=not getattr(view, "commits_itself", False))
        if kept.fingerprint != fingerprint:
            return _refused(KeyReused())
        return _replayed(kept) if kept.status else _refused(InProgress())

    return middleware


def _view_with_key(request: HttpRequest) -> Any:
    """The class of the view; ``None`` if the operation takes no key."""
    if request.method != "POST" or not request.path_info.startswith("/api/"):
        return None
    with suppress(Resolver404):
        view: Any = resolve(request.path_info).func
        kind = getattr(view, "cls", None)
        if not getattr(kind, "keeps_answers", False):
            operation = operation_of(view, "post")
            return kind if operation is not None and HEADER in operation.headers else None
    return None


def _account(request: HttpRequest) -> tuple[User | None, Token | None]:
    """Whose request it is, authenticated as views do; no account if they will refuse it."""
    authenticators: Any = api_settings.DEFAULT_AUTHENTICATION_CLASSES
    asked = Request(request, authenticators=[one() for one in authenticators])
    with suppress(APIException):
        if asked.user.is_authenticated:
            return asked.user, asked.auth if isinstance(asked.auth, Token) else None
    return None, None


def _fingerprint(request: HttpRequest, token: Token | None) -> str | None:
    """Of what is asked, and of the token's limits: one with others may not see the answer. ``None`` if the body is too
    large."""
    limits = (token.scope, sorted(token.networks or ()), token.networks is None) if token else ()
    with suppress(RequestDataTooBig):
        parts = (request.get_full_path(), request.content_type or "", repr(limits))
        return blake2b("\n".join(parts).encode() + b"\n" + request.body, digest_size=16).hexdigest()
    return None


def _is_free(kept: KeptAnswer, fingerprint: str, now: datetime) -> bool:
    """Whether a request may take the key: it is too old, or its request was abandoned."""
    if kept.begun < now - KEPT_FOR:
        return True
    return not kept.status and kept.fingerprint == fingerprint and kept.begun < now - ABANDONED_AFTER


@transaction.atomic
def _claimed(owner: User, key: str, fingerprint: str, now: datetime) -> tuple[KeptAnswer, str]:
    """The row of the key, and the claim to carry the request out; empty if another request has it."""
    KeptAnswer.objects.filter(begun__lt=now - KEPT_FOR).delete()
    row = {"fingerprint": fingerprint, "begun": now, "claim": new_id()}
    kept, is_new = KeptAnswer.objects.get_or_create(owner=owner, key=key, defaults=row)
    if not is_new and _is_free(kept, fingerprint, now):
        is_new = bool(KeptAnswer.objects.filter(pk=kept.pk).update(**row))
    return kept, str(row["claim"]) if is_new else ""


def _carried_out(request: HttpRequest, answer: View, kept: KeptAnswer, claim: str, *, is_whole: bool) -> HttpResponse:
    """``is_whole``: request and answer are one transaction."""
    mine = KeptAnswer.objects.filter(pk=kept.pk, claim=claim)
    is_kept = False
    try:
        with transaction.atomic() if is_whole else nullcontext():
            response = answer(request)
            if response.status_code < 400:
                with transaction.atomic():
                    _keep(mine, response)
                    _thin(KeptAnswer.objects.filter(owner=kept.owner_id).exclude(pk=kept.pk), kept.owner_id)
                is_kept = True
            elif is_whole:
                transaction.set_rollback(True)
    except _TakenOver:
        return _refused(InProgress())
    finally:
        if not is_kept:
            mine.delete()
    return response


def _keep(mine: QuerySet[KeptAnswer], response: HttpResponse) -> None:
    content = zlib.compress(response.content)
    headers = {name: response[name] for name in _COPIED if name in response}
    if not mine.update(status=response.status_code, headers=headers, body=content, size=len(content)):
        raise _TakenOver


def _thin(others: QuerySet[KeptAnswer], owner: Any) -> None:
    """Forget the oldest answers beyond what is kept of an account."""
    has = KeptAnswer.objects.filter(owner=owner).aggregate(count=Count("pk"), size=Sum("size"))
    if has["count"] <= MOST_KEPT and has["size"] <= MOST_KEPT_BYTES:
        return
    count, size, old = has["count"], has["size"], []
    for pk, own in others.exclude(status=0).order_by("begun", "pk").values_list("pk", "size"):
        if count <= MOST_KEPT and size <= MOST_KEPT_BYTES:
            break
        count, size = count - 1, size - own
        old.append(pk)
    others.filter(pk__in=old).delete()


def _replayed(kept: KeptAnswer) -> HttpResponse:
    content = zlib.decompress(kept.body)
    return HttpResponse(content, status=kept.status, headers={**kept.headers, REPLAYED: "true"})


def _refused(error: Exception) -> HttpResponse:
    status, told = answer_to(error)
    return JsonResponse(told, status=status, headers=getattr(error, "headers", {}))
