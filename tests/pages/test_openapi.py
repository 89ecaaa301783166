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
from hypothesis import HealthCheck
from hypothesis import settings as limits
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks as conformance

from brokerweb.accounts.rights import Role
from brokerweb.accounts.roles import set_role
from brokerweb.accounts.services import make_token
from tests.fuzz import FRESH
from tests.pages.furniture import House
from tests.thorough import THOROUGH, thoroughly

pytestmark = [pytest.mark.django_db, pytest.mark.hypothesis]

CHECKS = [
    conformance.status_code_conformance,
    conformance.content_type_conformance,
    conformance.response_headers_conformance,
    conformance.response_schema_conformance,
]
SILENT = 504
"""Declared: nothing answers at the network's address."""


def document(examples: int, phase: str = "fuzzing") -> Any:
    config = {
        "seed": secrets.randbelow(2**32) if FRESH in os.environ else 1,
        "generation": {"max-examples": examples * (5 if FRESH in os.environ else 1), "database": "none"},
        "phases": {name: {"enabled": name == phase} for name in ("fuzzing", "coverage", "examples", "stateful")},
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
def described(house: House, one_connection: None) -> Any:
    return document(3 if THOROUGH else 1)


@pytest.fixture
def described_shortly(house: House, one_connection: None) -> Any:
    return document(1)


@pytest.fixture
def tokens(operator: User) -> dict[Role, dict[str, str]]:
    """Headers of an account by its role."""
    found = {}
    for role in (Role.VIEWER, Role.OPERATOR, Role.ADMINISTRATOR):
        account = set_role(User.objects.create_user(role.word, password="battery staple"), role)
        found[role] = {"Authorization": f"Bearer {make_token(account)[1]}", "Accept-Encoding": "identity"}
    return found


def ask(case: Case, house: House, headers: dict[str, str]) -> Any:
    kind = case.path.split("/")[2]
    there = {"runs": house.runs["done"], "experiments": house.experiment, "networks": house.network}
    there |= {"reports": house.report, "topologies": next(iter(house.topologies.values()))}
    if "id" in case.path_parameters and kind in there:
        case.path_parameters["id"] = there[kind].pk
    with transaction.atomic():
        answer = case.call(base_url="http://localhost", headers=headers)
        transaction.set_rollback(True)
    return answer


def is_as_described(case: Case, answer: Any) -> None:
    case.validate_response(answer, checks=CHECKS if answer.status_code == SILENT else [not_a_server_error, *CHECKS])


@schemathesis.pytest.from_fixture("described").parametrize()
def test_an_administrator_is_answered_as_the_document_says(case: Case, house: House, tokens: dict) -> None:
    is_as_described(case, ask(case, house, tokens[Role.ADMINISTRATOR]))


@schemathesis.pytest.from_fixture("described_shortly").parametrize()
def test_a_stranger_is_refused_as_the_document_says(case: Case, house: House) -> None:
    answer = ask(case, house, {"Accept-Encoding": "identity"})
    is_as_described(case, answer)
    assert answer.status_code in (400, 401, 404, 415)


@thoroughly
@schemathesis.pytest.from_fixture("described").parametrize()
def test_a_viewer_is_answered_as_the_document_says(case: Case, house: House, tokens: dict) -> None:
    is_as_described(case, ask(case, house, tokens[Role.VIEWER]))


@thoroughly
@schemathesis.pytest.from_fixture("described").parametrize()
def test_an_operator_is_answered_as_the_document_says(case: Case, house: House, tokens: dict) -> None:
    is_as_described(case, ask(case, house, tokens[Role.OPERATOR]))


@thoroughly
@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR, Role.ADMINISTRATOR])
def test_what_one_call_answers_is_used_in_the_next(
    house: House, one_connection: None, tokens: dict, role: Role
) -> None:
    """Created, changed, launched, cancelled and deleted in any order; each story's changes are undone."""
    described = document(1, "stateful").exclude(path="/api/tokens/{id}/")  # or its own token is soon deleted
    machine = described.as_state_machine()

    class Story(machine):  # type: ignore[misc, valid-type]
        def setup(self) -> None:
            self.undone = transaction.atomic()
            self.undone.__enter__()

        def teardown(self) -> None:
            transaction.set_rollback(True)
            self.undone.__exit__(None, None, None)

        def get_call_kwargs(self, case: Case) -> dict[str, Any]:
            return {"headers": tokens[role]}

        def validate_response(self, response: Any, case: Case, **_: Any) -> None:
            is_as_described(case, response)

    Story.run(
        settings=limits(
            max_examples=40,
            stateful_step_count=8,
            database=None,
            derandomize=FRESH not in os.environ,
            suppress_health_check=list(HealthCheck),
        )
    )
