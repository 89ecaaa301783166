"""The package by itself: what it imports, that both clients have one source, errors, configuration, records."""

from __future__ import annotations

import ast
import inspect
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

import waxwing
import waxwing.udp
from waxwing import config
from waxwing.calls import at, call, error_of
from waxwing.config import Config
from waxwing.errors import KINDS, ApiError, NotConfigured, api_error
from waxwing.records import Context, Launch, Network, Records, Run

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "clients" / "python" / "src" / "waxwing"
DEPENDENCIES = {"httpx", "pandas"}


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            found.add(str(node.module).partition(".")[0])
    return found


def test_it_imports_nothing_of_the_server_and_two_dependencies() -> None:
    found = {name for path in SOURCES.rglob("*.py") for name in imported(path)}
    assert found - sys.stdlib_module_names == DEPENDENCIES | {"waxwing"}


def test_the_synchronous_client_is_generated_from_the_asynchronous_one() -> None:
    made = subprocess.run([sys.executable, ROOT / "clients" / "python" / "unasync.py", "--check"], check=False)
    assert made.returncode == 0, "run `make clients`"
    waiting, plain = (dict(inspect.getmembers(one)) for one in (waxwing.AsyncClient, waxwing.Client))
    public = {name for name in plain if not name.startswith("_")}
    assert public - {"close"} == {name for name in waiting if not name.startswith("_")} - {"aclose"}


def test_a_path_is_encoded_and_parameters_become_text() -> None:
    assert at("networks", "n", "context", "a/b", "ö", "x|y") == "/api/networks/n/context/a%2Fb/%C3%B6/x%7Cy/"
    sent = call("get", "/api/", query={"a": None, "b": True, "c": [1, 2]}, key="k")
    assert (sent.query, sent.headers["Idempotency-Key"]) == ({"b": "true", "c": "1,2"}, '"k"')
    assert call("POST", "/api/", key=True).headers != call("POST", "/api/", key=True).headers
    assert call("POST", "/api/", body="a: 1").headers["Content-Type"] == "application/yaml"


def test_an_error_has_its_status_field_code_and_all_sentences() -> None:
    first = {"field": "seed", "code": "invalid", "sentence": "must be a whole number"}
    body = {**first, "errors": [first, {"field": "", "code": "other", "sentence": "Second."}]}
    error = error_of(400, {}, repr(body).replace("'", '"').encode())
    assert error is not None
    assert (error.status, error.field, error.code, error.sentence) == (400, *first.values())
    assert error.told == "seed: must be a whole number\nSecond."
    assert error_of(399, {}, b"") is None
    for status, kind in KINDS.items():
        assert type(error_of(status, {}, b"<html>Bad gateway</html>")) is kind
    assert isinstance(error_of(500, {}, b"\xff"), ApiError)


def test_the_configuration_is_arguments_then_variables_then_a_file(tmp_path: Path) -> None:
    variables = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert config.read(environment=variables) == Config(config.DEFAULT_URL, "")
    path = config.file_path(variables)
    assert path == tmp_path / "waxwing" / "config.toml"
    config.write(Config("https://a.example", 'to"ken'), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert config.read(environment=variables) == Config("https://a.example", 'to"ken')
    elsewhere = config.read("https://b.example/", environment=variables)
    assert elsewhere == Config("https://b.example", ""), "a token is for its server only"
    named = {**variables, "WAXWING_URL": "http://c", "WAXWING_TOKEN": "c"}
    assert config.read(environment=named) == Config("http://c", "c")
    assert config.read(token="t", environment=named).token == "t"
    for wrong in ("c.example", "ftp://c", "http://", "http://c:x", "http://c/?a=1", "http://c d", "http://[::1"):
        with pytest.raises(NotConfigured, match="is not the address of a server"):
            config.read(wrong, environment=variables)
    for wrong in ("a b", "a\n b", "\u20ac"):
        with pytest.raises(NotConfigured, match="characters that no token has"):
            config.read("http://c", wrong, environment=variables)
    assert config.read("http://c", " t\n", environment=variables).token == "t"
    config.write(Config("https://\u00fc.example", "t", "/etc/\U0001f512.pem"), path)
    assert config.read(environment=variables).ca == "/etc/\U0001f512.pem"
    assert config.read("https://other", environment=variables).ca == ""
    assert config.read("https://other", environment={**variables, "WAXWING_CA": "a"}, ca="b").ca == "b"
    with pytest.raises(NotConfigured, match="cannot be written"):
        config.write(Config("http://c", ""), path / "below" / "a.file")
    path.write_text("url = ")
    with pytest.raises(NotConfigured, match="cannot be read"):
        config.read(environment=variables)


def test_help_imports_neither_httpx_nor_asyncio() -> None:
    """They take most of the time of a command; ``waxwing --help`` and completion need neither."""
    look = (
        "import sys; from waxwing.cli import main; main.main(['--help']); print({'httpx', 'asyncio'} & {*sys.modules})"
    )
    made = subprocess.run(
        [sys.executable, "-c", look],
        env={"PYTHONPATH": str(SOURCES.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert made.stdout.splitlines()[-1] == "set()", made.stdout
    for name in waxwing.__all__:
        assert hasattr(waxwing, name) and name in dir(waxwing)
    assert not hasattr(waxwing, "Nothing") and not hasattr(waxwing.udp, "Nothing")


def test_every_error_of_the_server_has_a_sentence() -> None:
    for body, told in (
        ({"error": "BadRequest", "description": "No type."}, ("BadRequest", "No type.")),
        ({"type": "urn:x", "title": "Gone", "status": 410, "detail": "It left."}, ("status_410", "It left.")),
        ({"errors": [{"field": "a", "code": "c", "detail": "Wrong."}]}, ("c", "Wrong.")),
        ({"errors": ["x"]}, ("status_410", "The server gave no reason.")),
        ([1], ("status_410", "The server gave no reason.")),
        ("Gone for good", ("status_410", "Gone for good")),
    ):
        error = api_error(410, body, request="GET /api/x/")
        assert (error.code, error.sentence) == told
    assert str(error) == "Gone for good (GET /api/x/: status 410, status_410)"


def test_records_read_what_there_is_and_keep_what_they_do_not_know() -> None:
    broker = {"index": 0, "address": "127.0.0.1:1", "state": "up", "reason": ""}
    raw = {"id": "n", "name": "<b>", "brokers": [broker, {**broker, "state": "failed"}], "future": 1}
    network = Network.of({**raw, "created": "2026-11-28T10:00:00Z"})
    assert (network.addresses, network.raw["future"]) == (("127.0.0.1:1",), 1)
    assert network.created == datetime(2026, 11, 28, 10, tzinfo=UTC)
    assert "&lt;b&gt;" in network._repr_html_() and "<b>" not in network._repr_html_()
    assert Context.of({"payload": None, "hops": None, "text": "x"}) == Context(text="x")
    assert Launch.of({"runs": ["a"], "skipped": [{"run": "b"}]}).all_runs == ("a", "b")
    assert Launch.of({"runs": ["a"]}).runs == ("a",)
    runs = Records([Run.of({"id": "a", "figures": {"p95": 2.0}}), Run.of({"id": "b"})])
    assert "<td>b</td>" in runs._repr_html_()
    frame = runs.to_frame()
    assert list(frame["id"]) == ["a", "b"]
    assert frame["figures.p95"][0] == 2.0
