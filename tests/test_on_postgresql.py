"""An installation on Debian's PostgreSQL. ``make test-postgresql`` runs the tests that use rows there."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from brokerweb.up.environment import find_postgresql
from tests.conftest import announced, end_house, start_house
from tests.postgresql import server
from tests.thorough import thoroughly
from tests.waiting import BOUND_S

pytestmark = pytest.mark.skipif(
    find_postgresql() is None, reason="PostgreSQL's server is missing and could not be installed"
)


@pytest.mark.stack
@thoroughly
def test_make_up_takes_it_and_makes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as url:
        monkeypatch.setenv("DATABASE_URL", url)
        house = start_house(tmp_path)
        try:
            stack = announced(house, tmp_path)
            person = {"username": stack.username, "password": stack.password}
            with httpx.Client(base_url=stack.url, timeout=BOUND_S) as web:
                ready = web.get("/readyz").json()
                token = web.post("/api/tokens/", json=person).json()["token"]
                runs = web.get("/api/runs/", headers={"Authorization": f"Bearer {token}"}).json()
        finally:
            end_house(house)
    assert ready["checks"]["database"] is True
    assert runs["count"] > 0, "the demo is queued"
    assert not list(tmp_path.glob("*.sqlite3*"))
