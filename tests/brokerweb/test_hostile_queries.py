"""Hostile queries to lists and to the comparison in REST: answered, or refused in the one shape, never our error."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db

BIG = "9" * 25
FILTERS = [
    "created > 0001-01-01T00:00+12:00",
    "created < 9999-12-31T23:59:59-12:00",
    "created > 99999999d ago",
    "ended = 2026-W01",
    "(" * 300,
    "not " * 300,
    f"{'(' * 20}p95 < 2ms{')' * 20}",
    "replicate = 1e300",
    f"brokers = {BIG}",
    "brokers > -1e300",
    "brokers <= 9223372036854775808",
    "workload.providers = 1e300",
    "record_mb > 1e300",
    "rss < 1e30GB",
    "answer_ratio = 1e-300%",
    "p95 < ١ms",
    "p95 < .5e-300us",
    f"seed = '{'x' * 1_900}'",
    r"note ~ '%_\\'",
    "topology ~ '\"><script>'",
    "a" * 2_001,
    "\0",
    " or ".join(f"note ~ a{number}" for number in range(99)),
    " and ".join(f"not tag = a{number}" for number in range(99)),
    " and ".join(["ended != 2d ago"] * 99),
    f"id in ({', '.join(['a'] * 99)})",
]
TEXTS = ["-1", "1e999", BIG, "NaN", "\0", "²", "p95," * 2_500, "../../etc/passwd"]
PARAMETERS = {
    "/api/runs/": ("ordering", "replicate", "state", "state__in", "experiment", "passed", "page", "page_size", "tag"),
    "/api/runs/export/": ("format", "columns", "sort"),
    "/api/compare/": ("page", "page_size", "sort", "by", "metric", "runs", "baseline"),
    "/api/topologies/": ("brokers", "brokers__gte", "ordering"),
}


@pytest.mark.parametrize("text", FILTERS, ids=lambda text: text[:30].encode("unicode_escape").decode())
def test_a_filter_is_taken_or_refused_by_name(api: APIClient, text: str) -> None:
    for address, name in (("/api/runs/", "q"), ("/api/compare/", "q"), ("/api/compare/", "baseline")):
        asked = {"q": "", name: text}
        answer = api.get(address, asked)
        assert answer.status_code in (200, 400)
        if answer.status_code == 400:
            assert answer.json()["field"] in ("filter", "q", "baseline")
            assert answer.json()["sentence"]


@pytest.mark.parametrize("address", PARAMETERS)
def test_a_parameter_is_taken_or_refused_by_name(api: APIClient, address: str) -> None:
    for name in PARAMETERS[address]:
        for text in TEXTS:
            answer = api.get(address, {name: text})
            assert answer.status_code in (200, 400, 404), (name, text)


def test_a_name_is_sought_or_refused_however_long_it_is(api: APIClient, ring: dict[str, Any]) -> None:
    made = api.post("/api/experiments/", {"name": "ring", "topology": ring["id"]}, format="json").json()
    api.post("/api/networks/", {"name": "ring", "topology": ring["id"]}, format="json")
    body = {"name": "ring", "experiments": [made["id"]], "crontab": "0 6 * * 1"}
    api.post("/api/schedules/", body, format="json")
    for address in ("/api/topologies/", "/api/experiments/", "/api/networks/", "/api/schedules/"):
        assert api.get(address, {"name__icontains": "RIN"}).json()["count"] == 1, address
        long = api.get(address, {"name__icontains": "x" * 60_000})
        assert (long.status_code, long.json()["field"]) == (400, "name__icontains"), address
