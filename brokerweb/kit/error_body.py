"""The one shape of an error: a field name, a code and a sentence; ``errors`` lists all of them, the first on top.

``{"field": "workload.providers", "code": "invalid", "sentence": "…", "errors": [{"field", "code", "sentence"}, …]}``.
The field is empty where no single field is at fault.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def body(errors: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """The JSON of (field, code, sentence) triples; at least one."""
    listed = [{"field": field, "code": code, "sentence": sentence} for field, code, sentence in errors]
    return {**listed[0], "errors": listed}
