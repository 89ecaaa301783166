"""Parts of the OpenAPI document common to all operations: the error body and throttling."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers


class BearerScheme(OpenApiAuthenticationExtension):
    """Describes token authentication in the OpenAPI document."""

    target_class = "brokerweb.accounts.bearer.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class ErrorEntry(serializers.Serializer):
    field = serializers.CharField(help_text="The invalid field, dotted if nested; empty if none")
    code = serializers.CharField()
    sentence = serializers.CharField()


class Error(ErrorEntry):
    """The first error at the top level, all errors in ``errors``."""

    errors: Any = ErrorEntry(many=True)


RETRY_AFTER = {
    "schema": {"type": "integer", "minimum": 0},
    "description": "Seconds until requests are accepted again",
}


class Schema(AutoSchema):
    """Adds the default error response, and that of throttling with its header."""

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        if direction == "response" and "default" not in bodies:
            error = self._get_response_for_code(Error, "default", media_types=["application/json"])
            bodies["default"] = error
            bodies["429"] = {**error, "description": "Too many requests", "headers": {"Retry-After": RETRY_AFTER}}
        return bodies
