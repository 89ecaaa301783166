"""The JSON body of all errors: field, code and sentence of the first error; ``errors`` lists all.

``{"field": "workload.duration_s", "code": "invalid", "sentence": "…", "errors": [{"field", "code", "sentence"}, …]}``.
The field is empty if the error does not belong to a single field.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def body(errors: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """The JSON of (field, code, sentence) triples; at least one."""
    listed = [{"field": field, "code": code, "sentence": sentence} for field, code, sentence in errors]
    return {**listed[0], "errors": listed}
