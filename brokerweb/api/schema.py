"""Parts of the OpenAPI document common to all operations: the error body and throttling."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from brokerweb.api.examples import EXAMPLES
from brokerweb.api.sparse import FIELDS, SparseFields
from brokerweb.kit.error_body import PROBLEM, TYPE


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


class ProblemEntry(serializers.Serializer):
    field = serializers.CharField()
    code = serializers.CharField()
    detail = serializers.CharField()


class Problem(serializers.Serializer):
    """Problem details (RFC 9457), for requests that accept `application/problem+json`."""

    type = serializers.CharField(help_text=f"`{TYPE}CODE`")
    title = serializers.CharField(help_text="Phrase of the status")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="The first error")
    instance = serializers.CharField(help_text="The path that was requested")
    errors: Any = ProblemEntry(many=True)


RETRY_AFTER = {
    "schema": {"type": "integer", "minimum": 0},
    "description": "Seconds until requests are accepted again",
}


THROTTLED = {
    "Retry-After": RETRY_AFTER,
    "RateLimit-Policy": {"schema": {"type": "string"}, "description": '`"token";q=500;w=10`: requests per seconds'},
    "RateLimit": {"schema": {"type": "string"}, "description": '`"token";r=499;t=7`: left, for so many seconds'},
}
LOCATION = {"schema": {"type": "string", "format": "uri"}, "description": "Address of what was created"}
FEW_FIELDS = {
    "in": "query",
    "name": FIELDS,
    "schema": {"type": "string"},
    "description": "Names of the fields to answer, comma-separated; the others are left out. Default: all",
}
IDEMPOTENCY_KEY = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
    "description": "Carries the request out once: a repeated request with this key and the same body gets the same "
    "answer, for 24 h; with another body 422, while the first is being carried out 409",
}
REPLAYED = {"schema": {"type": "string", "enum": ["true"]}, "description": "The answer of an earlier request"}


class Schema(AutoSchema):
    """Adds the default error response, and that of throttling with its header; idempotency keys where things are
    created.
    """

    def _get_parameters(self) -> list[Any]:
        parameters = super()._get_parameters()
        if isinstance(self.view, SparseFields) and self.view.has_sparse_fields and self.method == "GET":
            parameters.append(FEW_FIELDS)
        return [*parameters, IDEMPOTENCY_KEY] if self._takes_key() else parameters

    def get_examples(self) -> list[OpenApiExample]:
        example = EXAMPLES.get(self.get_operation_id())
        return example.shown() if example else super().get_examples()

    def _takes_key(self) -> bool:
        """Everything that creates; tokens do without, since their text must not be stored. Views that keep answers
        themselves say so themselves.
        """
        if getattr(self.view, "keeps_answers", False):
            return False
        answers: Any = self.get_response_serializers()
        creates = isinstance(answers, dict) and 201 in answers
        return self.method == "POST" and creates and self.get_auth() != []

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        bodies = super()._get_response_bodies(direction)
        if direction == "response" and "default" not in bodies:
            error = self._get_response_for_code(Error, "default", media_types=["application/json"])
            as_problem = self._get_response_for_code(Problem, "default", media_types=[PROBLEM])
            error["content"] |= as_problem["content"]
            texts = getattr(self.view, "error_media_types", ())
            error["content"] |= {form: {"schema": {"type": "string"}} for form in texts}
            bodies["default"] = error
            bodies["429"] = {**error, "description": "Too many requests", "headers": THROTTLED}
        if "201" in bodies:
            bodies["201"]["headers"] = {"Location": LOCATION}
            if self._takes_key():
                bodies["201"]["headers"]["Idempotent-Replayed"] = REPLAYED
        return bodies
