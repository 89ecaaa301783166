"""``DATABASE_URL``: which database it chooses, what it bounds, and what is said of one that cannot be read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from brokerweb.databases import BadDatabaseURL, database
from tests.waiting import BOUND_S

ROOT = Path(__file__).resolve().parents[2]


def chosen(url: str) -> dict[str, object]:
    return database({"DATABASE_URL": url}, Path("/var/waxwing"))


def test_without_it_rows_lie_in_sqlite() -> None:
    for environment in ({}, {"DATABASE_URL": ""}, {"DATABASE_URL": " "}):
        told = database(environment, Path("/var/waxwing"))
        assert told["ENGINE"] == "django.db.backends.sqlite3"
        assert told["NAME"] == Path("/var/waxwing/waxwing.sqlite3")


def test_it_names_a_server_and_everything_that_waits_is_bounded() -> None:
    told = chosen("postgresql://ada:p%40ss%23@db.example:5433/lab?sslmode=require")
    assert {key: told[key] for key in ("ENGINE", "USER", "PASSWORD", "HOST", "PORT", "NAME")} == {
        "ENGINE": "brokerweb.postgresql",
        "USER": "ada",
        "PASSWORD": "p@ss#",
        "HOST": "db.example",
        "PORT": 5433,
        "NAME": "lab",
    }
    assert (told["CONN_MAX_AGE"], told["CONN_HEALTH_CHECKS"]) == (0, True)
    options = told["OPTIONS"]
    assert isinstance(options, dict)
    assert options["sslmode"] == "require"
    assert options["connect_timeout"] == 5
    for bound in ("lock_timeout=20s", "idle_in_transaction_session_timeout=40s", "statement_timeout=300s"):
        assert f"-c {bound}" in options["options"]


def test_a_socket_and_other_bounds_are_what_its_query_says() -> None:
    told = chosen("postgres:///lab?host=/run/postgresql&connect_timeout=1")
    assert told["HOST"] == ""
    options = told["OPTIONS"]
    assert isinstance(options, dict)
    assert (options["host"], options["connect_timeout"]) == ("/run/postgresql", 1)
    assert told["DISABLE_SERVER_SIDE_CURSORS"] is False


def test_behind_pgbouncer_no_options_are_sent_and_no_cursor_outlives_a_transaction() -> None:
    told = chosen("postgresql://ada@/lab?host=/run/pgbouncer&options=")
    options = told["OPTIONS"]
    assert isinstance(options, dict)
    assert "options" not in options
    assert (options["host"], options["connect_timeout"]) == ("/run/pgbouncer", 5)
    assert told["DISABLE_SERVER_SIDE_CURSORS"] is True


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://ada:secret@host/lab", "has the scheme 'mysql'; only PostgreSQL"),
        ("sqlite:///lab.sqlite3", "has the scheme 'sqlite'; only PostgreSQL"),
        ("lab", "DATABASE_URL has no scheme; only PostgreSQL"),
        ("postgresql://ada:secret@host:port/lab", "DATABASE_URL is invalid: "),
        ("postgresql://ada:secret@host:99999/lab", "DATABASE_URL is invalid: "),
        ("postgresql://ada:secret@host:0/lab", "DATABASE_URL is invalid: "),
        ("postgresql://ada:secret@host:5432", "has no database name"),
        ("postgresql://ada:secret@host/", "has no database name"),
        ("postgresql://ada:secret@host/one/two", "has no database name"),
        ("postgresql://ada:secret@[::1/lab", "DATABASE_URL is invalid: "),
        ("postgresql://ada:secret@host/lab#x", "contains an unescaped #"),
        ("postgresql://ada:sec#ret@host/lab", "DATABASE_URL is invalid: "),
    ],
)
def test_one_that_cannot_be_read_is_a_sentence_without_the_password(url: str, sentence: str) -> None:
    with pytest.raises(BadDatabaseURL) as refused:
        chosen(url)
    assert sentence in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "'sec'" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://ada:secret@host/lab", "up: DATABASE_URL has the scheme 'mysql'"),
        ("postgresql://ada:secret@127.0.0.1:1/lab", "up: cannot connect to the database of DATABASE_URL"),
    ],
)
def test_make_up_says_so_and_starts_nothing(url: str, sentence: str, tmp_path: Path) -> None:
    environment = {**os.environ, "WAXWING_VAR": str(tmp_path), "DATABASE_URL": url}
    done = subprocess.run(
        [sys.executable, "-m", "brokerweb.up", "--port", "0"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=BOUND_S,
        check=False,
    )
    assert done.returncode == 1
    assert sentence in done.stderr
    assert "secret" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "redis").exists()
