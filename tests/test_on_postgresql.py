"""What databases differ in, on Debian's PostgreSQL: a cheap part; ``make test-postgresql`` runs all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from brokerweb.up.environment import find_postgresql
from tests.conftest import announced, end_house, start_house
from tests.postgresql import server
from tests.waiting import BOUND_S

pytestmark = pytest.mark.skipif(
    find_postgresql() is None, reason="PostgreSQL's server is missing and could not be installed"
)
ROOT = Path(__file__).resolve().parents[1]
CHOSEN = (
    "tests/brokerweb/test_writing_alone.py",  # transactions, leases, NUL
    "tests/brokerweb/test_twice_at_once.py",  # names that two take at once
    "tests/brokerweb/test_run_lists.py",  # filters: JSON, letters, dates, figures that are missing
    "tests/pages/test_runs_list.py",  # order, what is missing last, bulk changes
    "tests/brokerweb/test_hostile_queries.py",  # numbers and texts that no column holds
)


def test_what_databases_differ_in_holds_on_postgresql() -> None:
    """From no table on, by the ordinary migrations."""
    command = [sys.executable, "-m", "tests.postgresql", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", *CHOSEN]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " skipped" not in done.stdout, "what is of PostgreSQL was run"


@pytest.mark.stack
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
