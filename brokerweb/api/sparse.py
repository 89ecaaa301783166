"""Sparse fields: ``?fields=id,state`` on lists and single objects leaves the other fields out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from rest_framework.exceptions import ErrorDetail, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from overlay.core.errors import shown

if TYPE_CHECKING:
    from rest_framework.viewsets import ViewSet as _Base
else:
    _Base = object

FIELDS = "fields"
MOST_NAMED = 10
"""Unknown fields named in one response."""


class SparseFields(_Base):
    """For view sets: their actions ``list`` and ``retrieve``, and other lists."""

    serializer_class: Any = None
    summary_serializer: type[BaseSerializer] | None = None
    """What lists show, if they show less."""
    further_lists: Mapping[str, type[BaseSerializer]] = {}
    """Other actions that answer a page of rows, and the shape of a row."""
    wanted_fields: frozenset[str] = frozenset()
    """Those that the request names; empty: all."""

    @property
    def has_sparse_fields(self) -> bool:
        return self.action in ("list", "retrieve") or self.action in self.further_lists

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if self.has_sparse_fields:
            in_list = self.summary_serializer if self.action == "list" else self.further_lists.get(self.action)
            self.wanted_fields = _read(request.query_params.get(FIELDS, ""), in_list or self.serializer_class)

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        if self.wanted_fields and isinstance(response, Response) and response.status_code == 200:
            response.data = _thinned(response.data, self.wanted_fields, is_list=self.action != "retrieve")
        return super().finalize_response(request, response, *args, **kwargs)


def _read(text: str, shape: Any) -> frozenset[str]:
    """The fields in ``text``. Raises ``ValidationError`` with every one that ``shape`` does not have."""
    known = _names(shape)
    wanted = dict.fromkeys(name.strip() for name in text.split(",") if name.strip())
    if wrong := [name for name in wanted if name not in known]:
        hint = f"known fields: {', '.join(known)}"
        told = [ErrorDetail(f"unknown field {shown(name, 40)}; {hint}", "unknown") for name in wrong[:MOST_NAMED]]
        raise ValidationError({FIELDS: told})
    return frozenset(wanted)


def _thinned(data: Any, wanted: frozenset[str], *, is_list: bool) -> dict[str, Any]:
    if is_list:
        return {**data, "results": [_thinned(row, wanted, is_list=False) for row in data["results"]]}
    return {name: value for name, value in data.items() if name in wanted}


@cache
def _names(shape: Any) -> tuple[str, ...]:
    return tuple(shape().fields)
