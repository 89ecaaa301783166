"""A database of revision 57a41a6, from before migrations were squashed, taken to today's tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connections
from django.db.utils import load_backend
from django.test import Client, override_settings

from brokerweb.accounts.models import Token
from brokerweb.experiments.models import Run
from tests.browser.addresses import follow

DUMP = Path(__file__).with_name("database_of_57a41a6.sql")
"""Made by the script next to it."""
OURS = ("accounts", "experiments", "networks", "notices", "reports", "storage", "topologies")
Schema = dict[str, dict[str, Any]]


@contextmanager
def on(path: Path, blocker: Any) -> Iterator[None]:
    """Django with the SQLite database at ``path``, made if it is not there, and files next to it."""
    theirs = connections["default"]
    chosen = {**theirs.settings_dict, "ENGINE": "django.db.backends.sqlite3", "NAME": str(path), "OPTIONS": {}}
    var = path.parent
    files = {"VAR": var, "RUNS": var / "runs", "LAKE": var / "lake", "REPORTS": var / "reports", "REST_RATE": 0}
    with blocker.unblock(), override_settings(MIGRATION_MODULES={}, **files):
        connections["default"] = load_backend(chosen["ENGINE"]).DatabaseWrapper(chosen, "default")
        try:
            yield
        finally:
            connections["default"].close()
            connections["default"] = theirs


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("before") / "waxwing.sqlite3"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(DUMP.read_text())
    return path


@pytest.fixture(scope="module")
def upgraded(before: Path, django_db_blocker: Any) -> Iterator[Path]:
    """A copy once ``migrate`` has run, and Django on it."""
    path = before.parent.with_name("upgraded") / before.name
    path.parent.mkdir()
    path.write_bytes(before.read_bytes())
    with on(path, django_db_blocker):
        call_command("migrate", interactive=False, verbosity=0)
        yield path


@pytest.fixture
def olga(upgraded: Path) -> Client:
    browser = Client()
    browser.force_login(User.objects.get(username="olga"))
    return browser


def rows(path: Path, query: str) -> list[sqlite3.Row]:
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        return database.execute(query).fetchall()


def counts(path: Path) -> dict[str, int]:
    """How many rows each table of users and each of ours has."""
    names = [row["name"] for row in rows(path, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    ours = [name for name in names if name.startswith(("auth_user", *(f"{app}_" for app in OURS)))]
    return {name: rows(path, f"SELECT count(*) AS n FROM {name}")[0]["n"] for name in ours}


def test_no_row_is_lost_and_every_kind_of_row_was_there(before: Path, upgraded: Path) -> None:
    then, now = counts(before), counts(upgraded)
    assert {name: now[name] for name in then} == then
    assert [name for name, count in then.items() if not count] == ["auth_user_groups", "auth_user_user_permissions"]


def test_a_new_database_has_the_same_tables_columns_and_indexes(
    upgraded: Path, tmp_path: Path, django_db_blocker: Any
) -> None:
    new = tmp_path / "new.sqlite3"
    with on(new, django_db_blocker):
        call_command("migrate", interactive=False, verbosity=0)
    assert schema(upgraded) == schema(new)
    applied = "SELECT app, name FROM django_migrations WHERE name LIKE '%squashed%' ORDER BY app"
    assert [tuple(row) for row in rows(upgraded, applied)] == [tuple(row) for row in rows(new, applied)]


def test_models_alone_make_the_same_tables(upgraded: Path, tmp_path: Path, django_db_blocker: Any) -> None:
    """As tests have them on SQLite."""
    new = tmp_path / "new.sqlite3"
    without = {app.label: None for app in apps.get_app_configs()}
    with on(new, django_db_blocker), override_settings(MIGRATION_MODULES=without):
        call_command("migrate", interactive=False, verbosity=0, run_syncdb=True)
    made = schema(new)
    assert made == {name: table for name, table in schema(upgraded).items() if name in made}
    assert schema(upgraded).keys() - made.keys() == {"django_migrations", "knox_authtoken"}, "whose model ours replaces"


def schema(path: Path) -> Schema:
    """By table, its columns, indexes and foreign keys, whatever the order in which they were made."""
    names = [row["name"] for row in rows(path, "SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: {"columns": columns(path, name), "indexes": indexes(path, name)} for name in names}


def columns(path: Path, table: str) -> dict[str, tuple[Any, ...]]:
    return {row["name"]: tuple(row)[2:] for row in rows(path, f"PRAGMA table_xinfo({table})")}


def indexes(path: Path, table: str) -> set[tuple[Any, ...]]:
    """Columns that are indexed, and what they point to."""
    found = set()
    for index in rows(path, f"PRAGMA index_list({table})"):
        parts = tuple((row["name"], row["desc"]) for row in rows(path, f"PRAGMA index_xinfo({index['name']})"))
        found.add((index["unique"], index["partial"], parts))
    keys = [tuple(row)[2:] for row in rows(path, f"PRAGMA foreign_key_list({table})")]
    return found | set(keys)


def test_figures_of_runs_are_those_of_the_former_columns(before: Path, upgraded: Path) -> None:
    then = {row["id"]: former_figures(row) for row in rows(before, "SELECT * FROM experiments_run")}
    now = {run.pk: {name.rpartition(".")[2]: value for name, value in run.figures.items()} for run in Run.objects.all()}
    assert {pk: {name: now[pk].get(name) for name in figures} for pk, figures in then.items()} == then
    assert sum(map(bool, then.values())) == 5, "so many were summed up"


def former_figures(run: sqlite3.Row) -> dict[str, float]:
    named = {name.removeprefix("figure_"): run[name] for name in run.keys() if name.startswith("figure_")}  # noqa: SIM118
    return {name: value for name, value in named.items() if value is not None}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("p95 < 15ms", "figure_p95 < 15000"),
        ("p95 >= 15ms or p95 = none", "figure_p95 >= 15000 OR figure_p95 IS NULL"),
        ("answered > 0 and topology = ring", "figure_answered > 0 AND topology_kind = 'ring'"),
        ("hops = none", "figure_hops IS NULL"),
        ("state = failed", "state = 'failed'"),
        ("tag = thesis", "note != ''"),
        ("passed = yes", "passed"),
    ],
)
def test_a_filter_chooses_the_runs_that_it_chose(olga: Client, before: Path, text: str, where: str) -> None:
    chosen = olga.get("/api/runs/", {"q": text}).json()["results"]
    then = {row["id"] for row in rows(before, f"SELECT id FROM experiments_run WHERE {where}")}
    assert then
    assert {run["id"] for run in chosen} == then


def test_a_repetition_of_a_changed_run_says_what_was_changed(upgraded: Path) -> None:
    again = Run.objects.get(rerun_of__isnull=False)
    assert again.change == {"cut_link": [0, 1]}
    assert again.compared_with == again.rerun_of.compared_with


def test_every_page_of_it_opens(olga: Client, before: Path) -> None:
    runs = {row["id"]: f"/runs/{row['id']}/" for row in rows(before, "SELECT id FROM experiments_run")}
    assert {olga.get(address).status_code for address in runs.values()} == {200}
    [view] = rows(before, "SELECT query FROM experiments_savedview")
    assert "Fast ones" in olga.get(f"/runs/?{view['query']}").content.decode()
    found = follow(olga, runs)
    assert found.wrong == {"/readyz": 503}, "nothing runs"
    rooms = {"experiments", "topologies", "networks", "reports"}
    assert {f"{room}:detail" for room in rooms} <= found.pages.keys(), "which were come to"


def test_accounts_keep_what_they_could_do(olga: Client, before: Path) -> None:
    then = {row["username"]: (row["is_staff"], row["is_superuser"]) for row in rows(before, "SELECT * FROM auth_user")}
    words = {(1, 1): "administrator", (1, 0): "operator", (0, 0): "viewer"}
    shown = olga.get("/api/accounts/").json()["results"]
    assert {one["username"]: one["role"] for one in shown} == {name: words[flags] for name, flags in then.items()}
    tokens = rows(before, "SELECT id FROM accounts_token")
    assert {token.networks for token in Token.objects.filter(id__in=[row["id"] for row in tokens])} == {None}
