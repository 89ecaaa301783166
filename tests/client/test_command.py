"""The command in this process, with a server of the test's own: arguments, output, exit codes. Nothing waits."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from waxwing import Client, Retry
from waxwing.cli import arguments, main, printing
from waxwing.records import Network

REFUSED = {"field": "seed", "code": "invalid", "sentence": "must be a whole number"}
NETWORK = {"id": "n", "name": "campus", "state": "running"}
EVIL = "\x1b]0;title\x07\x9b2J\ud800"
"""Escape sequences of terminals, and what UTF-8 cannot have."""
Typed = Callable[..., tuple[int, str, str]]


def answered(request: httpx.Request) -> httpx.Response:
    """A server with one network and one run."""
    path = request.url.path
    if path == "/api/networks/":
        named = request.url.params.get("name", "campus") == "campus"
        return httpx.Response(200, json={"results": [NETWORK] if named else [], "next": None})
    if path == "/api/networks/n/":
        return httpx.Response(200, json=NETWORK)
    if path.endswith(("/samples/", "/tables/ticks/")):
        if request.url.params.get("format") == "csv":
            return httpx.Response(200, text="a,b\n1,2\n", headers={"Content-Type": "text/csv"})
        return httpx.Response(200, json={"results": [{"a": 1}, {"a": 2}], "next": None})
    if path == "/api/runs/r/series/":
        return httpx.Response(
            200, json={"series": {"t": [1, 2], "p95": [5, None], "memory": {"rss": [7, 8]}, "x": [1]}}
        )
    if path.endswith("/batch/"):
        statuses = [{"status": 200 if one["op"] == "put" else 404} for one in json.loads(request.content)["operations"]]
        return httpx.Response(200, json={"results": statuses})
    if path == "/api/boxes/":
        return httpx.Response(
            401, json={"field": "", "code": "not_authenticated", "sentence": "The token has expired."}
        )
    if path == "/api/evil/":
        told = {"field": "", "code": "invalid", "sentence": EVIL}
        status, body = (400, told) if request.method == "POST" else (200, {"a": EVIL})
        return httpx.Response(status, content=json.dumps(body), headers={"Content-Type": "application/json"})
    if path == "/api/wrong/":
        return httpx.Response(400, json={**REFUSED, "errors": [REFUSED, {**REFUSED, "field": "name"}]})
    if path == "/api/hosts/":
        last = {"results": [{"name": "b"}], "next": None}
        first = {"results": [{"name": "a"}], "next": "http://elsewhere/api/hosts/?page=2"}
        return httpx.Response(200, json=last if request.url.params.get("page") else first)
    if path.startswith("/api/echo/"):
        return httpx.Response(200, json={"query": dict(request.url.params), "body": request.content.decode()})
    return httpx.Response(404, json={"field": "", "code": "not_found", "sentence": "Not found."})


@pytest.fixture
def asked() -> list[httpx.Request]:
    return []


@pytest.fixture
def typed(
    asked: list[httpx.Request], monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Iterator[Typed]:
    """``waxwing ARGUMENTS``: exit code, standard output, standard error."""

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return answered(request)

    def make_client(options: Any, token: str = "t") -> Client:
        retry = Retry(attempts=1)
        return Client(options.url or "http://there", token, retry=retry, http=httpx.MockTransport(answer))

    def typed(*words: str, stdin: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main.main(words)
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode()

    monkeypatch.setattr(main, "make_client", make_client)
    yield typed


def test_options_of_every_command_may_stand_before_or_after_its_name(typed: Typed) -> None:
    for words in (
        ("--json", "networks"),
        ("networks", "--json"),
        ("networks", "--json", "list"),
        ("networks", "list", "--json"),
    ):
        assert json.loads(typed(*words)[1]) == [NETWORK], words


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "COMMAND"),
        (["bogus"], "invalid choice: 'bogus'"),
        (["networks", "bogus"], "invalid choice: 'bogus'"),
        (["list", "--network", "n", "--limit", "0"], "a whole number from 1"),
        (["watch", "--network", "n", "--count", "-1"], "a whole number from 1"),
        (["runs", "wait", "r", "--timeout", "nan"], "a positive number of seconds"),
        (["get", "room", "r1", "temp"], "--network --brokers is required"),
        (["get", "room", "r1", "temp", "--brokers", "127.0.0.1"], "is not an address"),
        (["get", "room", "r1", "temp", "--brokers", "127.0.0.1:1", "--wait", "1"], "--wait is not for --brokers"),
        (["put", "a", "b", "c", "x", "--provider", "p", "--brokers", "127.0.0.1:1", "--if-none"], "not for --brokers"),
        (["delete", "room", "r1", "temp", "--brokers", "127.0.0.1:1"], "--provider is required"),
        (["put", "room", "", "temp", "x", "--provider", "p", "--network", "campus"], "is empty"),
        (["runs", "list", "-f", "limit=3"], "use --limit"),
        (["networks", "create", "-f", "x"], "expected NAME=VALUE"),
        (["networks", "create", "-f", "a=1", "-f", "a=2"], "has a value already"),
        (["networks", "create", "-f", "a=1", "-f", "a.b=2"], "has a value of its own"),
        (["networks", "create", "-f", "a=1", "--file", "-"], "either --file or -f"),
        (["batch", "-", "--network", "campus"], "has no operations"),
        (["batch", "/nowhere", "--network", "campus"], "No such file"),
        (["api", "FETCH", "/"], "invalid choice"),
        (["api", "GET", "/", "-H", "x"], "expected NAME: VALUE"),
        (["api", "POST", "hosts/", "--all"], "--all is for GET"),
        (["api", "GET", "http://elsewhere/api/"], "is not an address of http://there"),
        (["api", "GET", "wrong/"], "seed: must be a whole number\nname: must be a whole number"),
        (["login"], "a user name and a password"),
        (["--url", "nonsense", "runs"], "is not the address of a server"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_a_sentence_with_code_2(words: list[str], told: str, typed: Typed) -> None:
    code, out, err = typed(*words)
    assert (code, out) == (arguments.USAGE, "")
    assert told in err and "Traceback" not in err


def test_what_is_not_found_says_what_was_looked_for(typed: Typed) -> None:
    assert typed("runs", "show", "r") == (1, "", "waxwing: Not found. (GET /api/runs/r/)\n")
    assert typed("networks", "show", "x") == (1, "", "waxwing: No network has the id or the name 'x'.\n")
    assert typed("run", "x.yaml")[0] == arguments.USAGE
    code, out, _ = typed("runs", "show", "r", "--json")
    told = {"sentence": "Not found. (GET /api/runs/r/)", "status": 404, "code": "not_found", "field": ""}
    assert (code, json.loads(out)) == (1, {"error": told})


def test_a_token_that_is_refused_leads_to_login(typed: Typed) -> None:
    code, _, err = typed("api", "GET", "boxes/")
    assert (code, err) == (2, "waxwing: The token has expired.\n`waxwing login` creates a token and stores it.\n")


def test_parameters_are_sent_as_they_were_typed_and_bodies_as_json(typed: Typed, asked: list[httpx.Request]) -> None:
    def echo(*words: str, stdin: str = "") -> Any:
        return json.loads(typed("api", *words, stdin=stdin)[1])

    odd = ("-f", "a=1e3", "-f", "b=1.0", "-f", "c=NaN", "-f", "a=x", "-f", "d=")
    assert echo("GET", "echo/?e=5", *odd)["query"] == {"e": "5", "a": "1e3,x", "b": "1.0", "c": "NaN", "d": ""}
    body = echo("post", "echo/", "-f", "a.b=1.0", "-f", "a.c=NaN", "-f", "d=[1]", "-f", "e=x y")["body"]
    assert json.loads(body) == {"a": {"b": 1.0, "c": "NaN"}, "d": [1], "e": "x y"}
    given = echo("POST", "echo/", "--input", "-", "-f", "dry_run=true", stdin='{"a": 1}')
    assert given == {"query": {"dry_run": "true"}, "body": '{"a": 1}'}
    assert echo("PUT", "echo/", "--input", "-", stdin="a: 1\n")["body"] == "a: 1\n"
    assert asked[-1].headers["Content-Type"] == "application/yaml"
    echo("POST", "echo/", "-H", "If-Match: 5", "--key", "k")
    assert (asked[-1].headers["If-Match"], asked[-1].headers["Idempotency-Key"]) == ("5", '"k"')


def test_what_a_server_says_moves_no_cursor(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    code, _, told = typed("api", "POST", "evil/")
    assert code == 2 and told.strip().isprintable() and "title" in told
    printing.show([Network.of({**NETWORK, "name": EVIL})], as_json=True)
    printing.line({"a": EVIL})
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    printing.show(f"{EVIL}\n", as_json=False)
    code, shown, _ = typed("api", "GET", "evil/")
    assert code == 0
    assert all(line.isprintable() for line in shown.splitlines()) and "\x9b" not in shown
    rows = shown.splitlines()
    assert json.loads(rows[0])[0]["name"] == json.loads(rows[1])["a"] == EVIL


def test_any_list_is_read_to_its_end_and_headers_can_be_seen(typed: Typed) -> None:
    assert typed("api", "GET", "hosts/", "--all") == (0, '{"name": "a"}\n{"name": "b"}\n', "")
    status, *headers = typed("api", "HEAD", "echo/", "-i")[1].splitlines()
    assert status == "200" and "content-type: application/json" in headers


def test_tables_of_a_run_need_no_pandas(typed: Typed, tmp_path: Path) -> None:
    assert typed("runs", "samples", "r")[1] == typed("runs", "table", "r", "ticks")[1] == "a,b\n1,2\n"
    assert typed("runs", "samples", "r", "--json")[1] == '{"a": 1}\n{"a": 2}\n'
    assert typed("runs", "series", "r")[1] == "t,p95,memory.rss\n1,5,7\n2,,8\n"
    file = tmp_path / "samples.parquet"
    assert typed("runs", "samples", "r", "--parquet", str(file))[0] == 0 and file.exists()
    assert typed("runs", "samples", "r", "--parquet", str(tmp_path))[0] == 2


def test_a_batch_is_a_list_or_a_line_each(typed: Typed) -> None:
    put, get = '{"op": "put"}', '{"op": "get"}'
    assert typed("batch", "-", "--network", "campus", stdin=f"[{put}, {put}]")[0] == 0
    code, out, _ = typed("batch", "-", "--network", "campus", "--json", stdin=f"{put}\n\n{get}\n")
    assert (code, json.loads(out)) == (1, [{"status": 200}, {"status": 404}])


class Gone(io.StringIO):
    """What ``head`` leaves behind, or a full disk."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, text: str) -> int:
        raise self._error

    def fileno(self) -> int:
        return self._copy

    _copy = -1


def test_a_reader_that_has_gone_is_no_failure_and_a_full_disk_is(
    typed: Typed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "out").open("w") as file:
        gone = Gone(BrokenPipeError())
        gone._copy = file.fileno()
        monkeypatch.setattr(sys, "stdout", gone)
        assert typed("networks")[0] == arguments.DONE
    monkeypatch.setattr(sys, "stdout", Gone(OSError(28, "No space left on device")))
    code, _, err = typed("networks")
    assert (code, err) == (2, "waxwing: [Errno 28] No space left on device\n")
    monkeypatch.setattr(sys, "stdout", None)
    assert typed("networks")[0] == arguments.DONE


def test_ctrl_c_ends_it_with_130(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("waxwing.cli.context._watch", interrupted)
    assert typed("watch", "--network", "campus") == (130, "", "")
