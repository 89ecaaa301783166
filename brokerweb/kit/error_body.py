"""The JSON body of all errors: field, code and sentence of the first error; ``errors`` lists all.

``{"field": "workload.duration_s", "code": "invalid", "sentence": "…", "errors": [{"field", "code", "sentence"}, …]}``.
The field is empty if the error does not belong to a single field.

Clients whose ``Accept`` names ``application/problem+json`` get problem details (RFC 9457) instead:
``{"type": "urn:problem-type:waxwing:invalid", "title": "Bad Request", "status": 400, "detail": "…", "instance":
"/api/topologies/", "errors": [{"field", "code", "detail"}, …]}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

PROBLEM = "application/problem+json"
TYPE = "urn:problem-type:waxwing:"
"""Begins the type of a problem; the code of the first error ends it."""


def body(errors: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """The JSON of (field, code, sentence) triples; at least one."""
    listed = [{"field": field, "code": code, "sentence": sentence} for field, code, sentence in errors]
    return {**listed[0], "errors": listed}


def problem(found: Mapping[str, Any], status: int, instance: str) -> dict[str, Any]:
    """The result of ``body`` as problem details; ``instance`` is the path that was requested."""
    return {
        "type": f"{TYPE}{found['code']}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": found["sentence"],
        "instance": instance,
        "errors": [{"field": one["field"], "code": one["code"], "detail": one["sentence"]} for one in found["errors"]],
    }


def wants_problem(accept: str) -> bool:
    """Whether an ``Accept`` header names the media type, other than to refuse it."""
    ranges = [one.replace(" ", "").lower().partition(";") for one in accept.split(",")]
    return any(kind == PROBLEM and quality not in ("q=0", "q=0.0") for kind, _, quality in ranges)
