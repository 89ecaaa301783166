"""What the stories of the web share: a house of their own under a temporary directory, an operator and a viewer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from overlay.runtime.supervisor_client import SupervisorClient, SupervisorUnavailable
from tests.runtime.daemons import Daemon
from tests.waiting import BOUND_S, wait_for


@pytest.fixture(autouse=True)
def house(settings: Any, tmp_path: Path) -> Path:
    """``var/`` of this test."""
    settings.VAR = tmp_path
    settings.RUNS = tmp_path / "runs"
    settings.LAKE = tmp_path / "lake"
    settings.REPORTS = tmp_path / "reports"
    settings.SUPERVISOR_SOCKET = tmp_path / "supervisor.sock"
    settings.HOST_NAME = "here"
    settings.REST_RATE = settings.REST_ADDRESS_RATE = settings.LOG_IN_RATE = (
        0  # stories of this process share an address
    )
    settings.OPERATION_ROWS = 0  # its thread would use the database when a test is over
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8"), ip_network("::1/128")]
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    return tmp_path


@pytest.fixture
def operator(db: None) -> User:
    return User.objects.create_superuser("olga", password="correct horse")


@pytest.fixture
def viewer(db: None) -> User:
    return User.objects.create_user("viktor", password="battery staple")


@pytest.fixture
def api(operator: User) -> APIClient:
    """REST as the operator."""
    client = APIClient()
    client.force_authenticate(operator)
    return client


@pytest.fixture
def ring(api: APIClient) -> dict[str, Any]:
    """A ring of four brokers."""
    answer = api.post("/api/topologies/", {"name": "ring", "kind": "ring", "brokers": 4}, format="json")
    assert answer.status_code == 201, answer.content
    return answer.json()


class _Supervisors:
    """Starts real supervisors with their socket in the house, and ends them."""

    def __init__(self, house: Path) -> None:
        self._house = house
        self._processes: list[subprocess.Popen[bytes]] = []
        self.client = SupervisorClient(house / "supervisor.sock")

    def start(self) -> None:
        command = [sys.executable, "-m", "overlay", "supervise", "--socket", str(self._house / "supervisor.sock")]
        process = subprocess.Popen([*command, "--state", str(self._house / "supervisor")], start_new_session=True)
        self._processes.append(process)
        wait_for(lambda: self._answers() or process.poll() is not None, "the supervisor listens")
        assert process.poll() is None, "the supervisor ended"

    def _answers(self) -> bool:
        try:
            self.client.hello()
        except SupervisorUnavailable:
            return False
        return True

    def end(self) -> None:
        for process in self._processes:
            process.terminate()
            process.wait(BOUND_S)


@pytest.fixture
def supervisors(house: Path) -> Iterator[_Supervisors]:
    made = _Supervisors(house)
    yield made
    made.end()


@pytest.fixture
def supervisor(supervisors: _Supervisors) -> SupervisorClient:
    """A client of a real supervisor."""
    supervisors.start()
    return supervisors.client


@pytest.fixture
def restart(supervisors: _Supervisors) -> Callable[[], None]:
    """Starts another supervisor in the place of one that died."""
    return supervisors.start


@pytest.fixture(scope="module")
def ngsi_broker() -> Iterator[Daemon]:
    daemon = Daemon()
    yield daemon
    daemon.end()


@pytest.fixture
async def ngsi(
    ngsi_broker: Daemon, operator: User, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the NGSI of a network of one broker as its base."""
    from brokerweb.accounts.services import make_token
    from brokerweb.asgi import application  # loads all URLs
    from brokerweb.ngsi import store
    from tests.brokerweb.test_front import deployed

    monkeypatch.setattr(store, "STORED_KEYS", store.StoredKeys())
    network = await sync_to_async(deployed)(ngsi_broker.text)
    token = (await sync_to_async(make_token)(operator))[1]
    base, headers = f"http://localhost/api/networks/{network.pk}/ngsi", {"Authorization": f"Bearer {token}"}
    transport = httpx.ASGITransport(application.application_mapping["http"])
    async with httpx.AsyncClient(transport=transport, headers=headers, base_url=base) as client:
        yield client
