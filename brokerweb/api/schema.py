"""What OpenAPI says of every operation without its view saying it: the one shape of an error, and the throttles."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers


class BearerScheme(OpenApiAuthenticationExtension):
    """How the documentation describes our tokens."""

    target_class = "brokerweb.accounts.bearer.BearerAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class ErrorEntry(serializers.Serializer):
    field = serializers.CharField(help_text="The field at fault, dotted when nested; empty if none")
    code = serializers.CharField()
    sentence = serializers.CharField()


class Error(ErrorEntry):
    """The first error on top, all of them in ``errors``."""

    errors: Any = ErrorEntry(many=True)


RETRY_AFTER = {
    "schema": {"type": "integer", "minimum": 0},
    "description": "Seconds after which requests are taken again",
}


class Schema(AutoSchema):
    """Adds the error response as the default one, and that of throttles with its header."""

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        if direction == "response" and "default" not in bodies:
            error = self._get_response_for_code(Error, "default", media_types=["application/json"])
            bodies["default"] = error
            bodies["429"] = {**error, "description": "Too many requests", "headers": {"Retry-After": RETRY_AFTER}}
        return bodies
