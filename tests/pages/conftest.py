"""Common to the tests of pages: an installation of their own, an operator and a user with read access."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.pages.furniture import House, furnish
from tests.pages.snapshot import Snapshot, all_rows

OLGA = 1_000
"""Her id: the same in each test, since the kept house belongs to her."""


@pytest.fixture(autouse=True)
def var(settings: Any, tmp_path: Path) -> Path:
    """``var/`` of this test."""
    settings.VAR = tmp_path
    settings.RUNS = tmp_path / "runs"
    settings.LAKE = tmp_path / "lake"
    settings.REPORTS = tmp_path / "reports"
    settings.HOST_NAME = "here"
    settings.REST_RATE = settings.REST_ADDRESS_RATE = settings.LOG_IN_RATE = (
        0  # stories of this process share an address
    )
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": str(tmp_path)}
    }
    return tmp_path


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("olga", password="correct horse", id=OLGA)


@pytest.fixture
def olga(client: Client, operator: User) -> Client:
    """The operator's browser, logged in."""
    client.force_login(operator)
    return client


@pytest.fixture
def viktor(db: None) -> Client:
    """The browser of a user with read access."""
    browser = Client()
    browser.force_login(User.objects.create_user("viktor", password="battery staple"))
    return browser


@pytest.fixture(scope="session")
def kept() -> list[Snapshot]:
    """The house, once a test of this process has furnished it: that takes most of a second."""
    return []


@pytest.fixture
def house(operator: User, var: Path, kept: list[Snapshot], tmp_path_factory: pytest.TempPathFactory) -> House:
    """A house in use."""
    if kept:
        house: House = kept[0].restore(var)
        return house
    before = all_rows()
    house = furnish(operator)
    kept.append(Snapshot(before, var, tmp_path_factory.mktemp("house") / "var", house))
    return house
