"""Shared behaviour of resource views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework import mixins
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.viewsets import GenericViewSet

from brokerweb.api.sparse import SparseFields
from overlay.core.errors import InvalidSetting
from overlay.core.settings import SettingInfo

IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="The `mark` of the version that was read; 412 if it changed since",
)
"""For objects that several users may change."""
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="As where things are created"
)
"""For operations that create, but answer something else than what they created: the others have it anyway."""
MARK_HELP = "Mark of the current values. Send it as If-Match to avoid overwriting other changes"


def seen(request: Request) -> str:
    """The mark in ``If-Match``; empty if missing."""
    return request.headers.get("If-Match", "").strip().removeprefix("W/").strip('"')


class Resource(SparseFields, mixins.RetrieveModelMixin, mixins.ListModelMixin, GenericViewSet):
    """A read-only resource; lists may show fewer fields."""

    def get_serializer_class(self) -> type[BaseSerializer]:
        if self.action == "list" and self.summary_serializer is not None:
            return self.summary_serializer
        assert self.serializer_class is not None
        return self.serializer_class

    @property
    def user(self) -> User:
        """The authenticated user; the permission guarantees that there is one."""
        return cast(User, self.request.user)

    def parsed(self, shape: type[BaseSerializer]) -> dict[str, Any]:
        """The validated request body."""
        body = shape(data=self.request.data)
        body.is_valid(raise_exception=True)
        return body.validated_data

    def shown(self, thing: Any, code: int = 200) -> Response:
        """The thing; with its address if it was created."""
        assert self.serializer_class is not None
        data = self.serializer_class(thing, context=self.get_serializer_context()).data
        if code != 201:
            return Response(data, status=code)
        return created(data, self.reverse_action("detail", args=[thing.pk]))


def created(data: Any, address: str) -> Response:
    """201 with the address of what was created."""
    return Response(data, status=201, headers={"Location": address})


def chosen(queryset: QuerySet, ids: list[str], field: str) -> list[Any]:
    """The rows with these ids; all must exist. Raises ``InvalidSetting``."""
    rows = {row.pk: row for row in queryset.filter(pk__in=ids)}
    if missing := [one for one in ids if one not in rows]:
        raise InvalidSetting(field, f"unknown id {missing[0]!r:.40}")
    return [rows[one] for one in dict.fromkeys(ids)]


def settings_shown(described: Iterable[SettingInfo]) -> list[dict[str, Any]]:
    """Descriptions of settings as JSON."""
    names = ("name", "kind", "default", "unit", "help", "low", "high", "choices", "most")
    return [{name: getattr(info, name) for name in names} for info in described]
