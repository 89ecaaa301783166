"""REST against its own OpenAPI document, with what Schemathesis makes up: nothing breaks, and every answer is declared.

Identifiers of things that exist stand in addresses, or everything would be a 404. What each request changes is undone.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks as conformance

from brokerweb.accounts.services import make_token
from tests.fuzz import FRESH
from tests.pages.furniture import House
from tests.thorough import THOROUGH

pytestmark = [pytest.mark.django_db, pytest.mark.hypothesis]

CHECKS = [
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]
SILENT = 504
"""Declared: nothing answers at the network's address."""


def document(examples: int) -> Any:
    config = {
        "seed": secrets.randbelow(2**32) if FRESH in os.environ else 1,
        "generation": {"max-examples": examples * (5 if FRESH in os.environ else 1), "database": "none"},
        "phases": {name: {"enabled": name == "fuzzing"} for name in ("fuzzing", "coverage", "examples", "stateful")},
    }
    chosen = SchemathesisConfig.from_dict(config)
    return schemathesis.openapi.from_wsgi("/api/schema/", get_wsgi_application(), config=chosen)


@pytest.fixture
def one_connection(settings: Any) -> Iterator[None]:
    """A request of a real server hangs up on the database, and with it this test's transaction."""
    settings.CONTEXT_DEADLINE_SECONDS = 0.1  # no broker is there
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@pytest.fixture
def for_operators(house: House, one_connection: None) -> Any:
    return document(3 if THOROUGH else 1)


@pytest.fixture
def for_strangers(house: House, one_connection: None) -> Any:
    return document(1)


@pytest.fixture
def bearer(operator: User) -> str:
    return f"Bearer {make_token(operator)[1]}"


def ask(case: Case, house: House, headers: dict[str, str]) -> Any:
    kind = case.path.split("/")[2]
    there = {"runs": house.runs["done"], "experiments": house.experiment, "networks": house.network}
    there |= {"reports": house.report, "topologies": next(iter(house.topologies.values()))}
    if "id" in case.path_parameters and kind in there:
        case.path_parameters["id"] = there[kind].pk
    with transaction.atomic():
        answer = case.call(base_url="http://localhost", headers={**headers, "Accept-Encoding": "identity"})
        transaction.set_rollback(True)
    return answer


@schemathesis.pytest.from_fixture("for_operators").parametrize()
def test_an_operator_is_answered_as_the_document_says(case: Case, house: House, bearer: str) -> None:
    answer = ask(case, house, {"Authorization": bearer})
    checks = CHECKS if answer.status_code == SILENT else [not_a_server_error, *CHECKS]
    case.validate_response(answer, checks=checks)


@schemathesis.pytest.from_fixture("for_strangers").parametrize()
def test_a_stranger_is_refused_as_the_document_says(case: Case, house: House) -> None:
    answer = ask(case, house, {})
    case.validate_response(answer, checks=[not_a_server_error, *CHECKS])
    assert answer.status_code in (400, 401, 404, 415)
