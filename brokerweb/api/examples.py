"""Examples of the OpenAPI document, by operation. A test sends each request and compares the answer.

Together they are a story: a topology is created, then an experiment on it, which is launched, then a report of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import OpenApiExample

from brokerweb.kit.error_body import PROBLEM, body, problem
from overlay.systems.registry import FIRST


@dataclass(frozen=True, slots=True)
class Example:
    """A request, and the answers to it and to a wrong one."""

    request: dict[str, Any]
    answer: dict[str, Any] | None
    """``None`` if it is long."""
    wrong: dict[str, Any] | None = None
    """A request that is refused."""
    errors: tuple[tuple[str, str, str], ...] = ()
    """Field, code and sentence of each error of ``wrong``."""
    path: str = ""
    """Of the requests."""

    def shown(self) -> list[OpenApiExample]:
        """For the document."""
        found = [OpenApiExample("Request", self.request, request_only=True)]
        if self.answer is not None:
            found.append(OpenApiExample("Answer", self.answer, response_only=True))
        if self.errors:
            told = body(self.errors)
            found += [
                _refusal("Refused", told, "application/json"),
                _refusal("Refused, as problem details", problem(told, 400, self.path), PROBLEM),
            ]
        return found


def _refusal(name: str, value: dict[str, Any], kind: str) -> OpenApiExample:
    return OpenApiExample(name, value, response_only=True, media_type=kind, status_codes=["default"])


TOPOLOGY, EXPERIMENT, REPORT = "qzj599h7wj6e", "xzujavmnp92n", "47w5bep5tmsv"
CREATED = "2026-11-28T11:09:12.065689Z"
_LINKS = [{"a": a, "b": b, "delay_ms": 0.0, "jitter_ms": 0.0, "loss": 0.0} for a, b in ((0, 1), (0, 2), (1, 2))]
_MEASURES = {"links": 3, "mean_degree": 2.0, "min_degree": 2, "max_degree": 2, "diameter": 1, "mean_path_length": 1.0}
_WORKLOAD = {"duration_s": [30, 60]}
_DEFINITION = {"name": "Short and long", "engine": "simulated", "workload": _WORKLOAD, "replicates": 2, "seed": 5}

EXAMPLES = {
    "topologies_create": Example(
        {"name": "campus", "kind": "ring", "brokers": 3},
        {
            "id": TOPOLOGY,
            "name": "campus",
            "kind": "ring",
            "brokers": 3,
            "params": {},
            "seed": 0,
            "measures": {**_MEASURES, "connected": True, "components": 1},
            "version": 1,
            "owner": "olga",
            "created": CREATED,
            "updated": CREATED,
            "links": _LINKS,
            "nodes": [
                {"index": 0, "name": "", "x": 0.5, "y": 0.0},
                {"index": 1, "name": "", "x": 0.933013, "y": 0.75},
                {"index": 2, "name": "", "x": 0.066987, "y": 0.75},
            ],
        },
        {"name": "campus", "kind": "ring", "broker": 3, "seed": "7"},
        (
            ("broker", "unknown", "is unknown; known fields: name, kind, brokers, params, seed, links"),
            ("seed", "invalid", "must be a whole number, not '7'"),
        ),
        "/api/topologies/",
    ),
    "experiments_create": Example(
        {**_DEFINITION, "topology": "campus"},
        {
            **_DEFINITION,
            "id": EXPERIMENT,
            "topology": TOPOLOGY,
            "system": FIRST,
            "settings": {},
            "faults": [],
            "simulation": {},
            "record_mb": 0,
            "thresholds": [],
            "blocks": [],
            "report_when_done": False,
            "demo": False,
            "study": "",
            "scale": "",
            "owner": "olga",
            "created": CREATED,
            "runs": {},
            "judged": None,
            "mark": "9004a6496b0dadbe",
        },
        path="/api/experiments/",
    ),
    "experiments_launch_create": Example(
        {"skip_existing": True},
        {
            "runs": ["fhbc83r8nncx", "whwm5gwtvk2c", "hsuqs2kuzue9", "3uysbjtvpjps"],
            "count": 4,
            "estimated_s": 4.7,
            "skipped": [],
        },
        {"skip_existing": "yes"},
        (("skip_existing", "invalid", "must be true or false, not 'yes'"),),
        f"/api/experiments/{EXPERIMENT}/launch/",
    ),
    "networks_create": Example({"name": "lab", "topology": TOPOLOGY}, None, path="/api/networks/"),
    "reports_create": Example(
        {"experiments": [EXPERIMENT]},
        {
            "id": REPORT,
            "kind": "comparison",
            "state": "queued",
            "reason": "",
            "progress": "",
            "runs": [],
            "experiments": [EXPERIMENT],
            "schedule": None,
            "while_measuring": False,
            "owner": "olga",
            "created": CREATED,
            "started_at": None,
            "ended_at": None,
            "charts": [],
            "configurations": [],
        },
        {},
        (("runs", "invalid", "a report needs runs or experiments"),),
        "/api/reports/",
    ),
    "tokens_create": Example(
        {"username": "olga", "password": "correct horse", "name": "laptop", "scope": "read"},
        {
            "id": "3fa62upmrpur",
            "name": "laptop",
            "scope": "read",
            "token_key": "9f32b558aa5b86e",
            "created": CREATED,
            "expiry": "2027-02-26T11:09:12.426492Z",
            "last_used": None,
            "networks": None,
            "token": "9f32b558aa5b86eba2774af35ec1a38746aaf4be537c557a75e47a08b1125321",
        },
        {"username": "olga"},
        (("password", "required", "This field is required."),),
        "/api/tokens/",
    ),
}
"""By operation id, in the order of the story."""
