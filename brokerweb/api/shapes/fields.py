"""Shared serializer fields and the base class of request bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

from brokerweb.kit.moments import moment
from overlay.core.errors import shown

OBJECT = {"type": "object", "additionalProperties": {}}
LIST_OF_OBJECTS = {"type": "array", "items": OBJECT}


@extend_schema_field(OBJECT)
class ObjectField(serializers.JSONField):
    """A JSON object."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            raise serializers.ValidationError("must be an object", code="invalid")
        return super().to_internal_value(data)


@extend_schema_field(LIST_OF_OBJECTS)
class ObjectsField(serializers.JSONField):
    """A list of JSON objects."""


class MomentField(serializers.DateTimeField):
    """Unix milliseconds as ISO 8601."""

    def to_representation(self, value: Any) -> Any:
        return super().to_representation(moment(value))


class Body(serializers.Serializer):
    """A request body: known fields of the right JSON type only. REST framework would drop unknown fields and convert
    types.
    """

    JSON_TYPES: tuple[tuple[type[serializers.Field], type, str], ...] = (
        (serializers.CharField, str, "must be a string"),
        (serializers.ChoiceField, str, "must be a string"),
        (serializers.IntegerField, int, "must be a whole number"),
        (serializers.BooleanField, bool, "must be true or false"),
    )

    def to_internal_value(self, data: Any) -> Any:
        wrong: dict[str, Any] = dict(self._wrong(data)) if isinstance(data, Mapping) else {}
        try:
            found = super().to_internal_value(data)
        except serializers.ValidationError as error:
            if not isinstance(error.detail, dict):
                raise
            wrong = {**wrong, **{name: told for name, told in error.detail.items() if name not in wrong}}  # all at once
        else:
            if not wrong:
                return found
        raise serializers.ValidationError(wrong)

    def _wrong(self, data: Mapping[str, Any]) -> Iterator[tuple[str, ErrorDetail]]:
        for name, value in data.items():
            if name not in self.fields:
                yield name[:60], ErrorDetail(f"is unknown; known fields: {', '.join(self.fields)}", "unknown")
                continue
            for field, kind, sentence in self.JSON_TYPES:
                if isinstance(self.fields[name], field) and value is not None and type(value) is not kind:
                    yield name, ErrorDetail(f"{sentence}, not {shown(value)}", "invalid")
