"""The client against the OpenAPI document: every operation is within reach, and no method asks for anything else."""

from __future__ import annotations

import contextlib
import inspect
import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

import httpx
import pytest
from drf_spectacular.generators import SchemaGenerator

from brokerweb.systems.registry import web_of
from tests.conftest import ROOT
from waxwing import Client, Retry
from waxwing.calls import api_path
from waxwing.cli import main as command
from waxwing.cli import things
from waxwing.cli.arguments import defaults
from waxwing.errors import WaxwingError

BODY = {
    "id": "one",
    "state": "done",
    "results": [],
    "notifications": [],
    "runs": [],
    "cancelled": 0,
    "token": "t",
    "secret": "s",
    "series": {},
    "next": None,
}
HEADERS = ("Idempotency-Key", "If-Match", "If-None-Match", "Prefer")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = SchemaGenerator().get_schema(public=True)
    return found


@pytest.fixture(scope="module")
def paths(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["paths"]
    return found


def operations(paths: dict[str, Any]) -> dict[tuple[str, str], Any]:
    return {(method.upper(), path): one for path, methods in paths.items() for method, one in methods.items()}


def of(request: httpx.Request, paths: Iterable[str]) -> str:
    """The path of the document that a request is about; the one with the fewest parameters."""
    asked = request.url.raw_path.decode().partition("?")[0]
    found = [one for one in paths if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", one), asked)]
    return min(found, key=lambda one: one.count("{"), default=asked)


def value(parameter: inspect.Parameter) -> Any:
    """An argument by its annotation."""
    kind = str(parameter.annotation)
    if kind.startswith(("Sequence", "Definition", "Payload")):
        return "x" if kind.startswith("Payload") else ["one"] if kind.startswith("Sequence") else {}
    return 1 if kind.startswith("int") else 1.0 if kind.startswith("float") else kind.startswith("bool") or "one"


def methods(client: Client) -> Iterator[tuple[str, Any]]:
    """Every public method of every resource, by name."""
    resources = [one for name, one in vars(client).items() if name not in ("config", "_transport")]
    for resource in [*resources, client.context("one"), client.federation("one"), client.contextnet("one")]:
        for name, method in inspect.getmembers(resource, inspect.ismethod):
            if not name.startswith("_") and name not in ("context", "contextnet", "federation"):
                yield f"{type(resource).__name__}.{name}", method


def call_with_all(method: Any) -> None:
    """With a value for each argument; what comes of the answer does not matter."""
    given = inspect.signature(method).parameters.values()
    named = {one.name: value(one) for one in given if one.kind is one.KEYWORD_ONLY and one.name != "progress"}
    with contextlib.suppress(WaxwingError, ValueError, TypeError):  # the answer is no table
        found = method(*(value(one) for one in given if one.kind is one.POSITIONAL_OR_KEYWORD), **named)
        if inspect.isgenerator(found):
            next(found, None)


def test_every_method_asks_for_operations_with_parameters_that_they_have(paths: dict[str, Any]) -> None:
    asked: list[tuple[str, httpx.Request]] = []
    now = [""]

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((now[0], request))
        is_list = request.method == "GET" and request.url.path.endswith("/bridges/")
        return httpx.Response(404 if "stream" in request.url.path else 200, json=[] if is_list else BODY)

    client = Client("http://there", "t", http=httpx.MockTransport(answer), retry=Retry(attempts=1))
    every = dict(methods(client))
    for now[0], bound in every.items():
        call_with_all(bound)
    known, wrong = operations(paths), []
    for name, request in asked:
        operation = (request.method, of(request, paths))
        taken = {(one["in"], one["name"]) for one in known.get(operation, {}).get("parameters", ())}
        if operation[1].endswith("/stream/"):
            taken |= {("query", name) for name in web_of("federation").context.filters}  # a system adds its own
        given = {("query", one) for one in request.url.params}
        given |= {("header", one) for one in HEADERS if one in request.headers}
        wrong += [(name, *operation, *one) for one in given - taken] + [(name, *operation)] * (operation not in known)
    assert wrong == []
    assert {name for name, _ in asked} == every.keys(), "each asks for something"


def test_the_command_reaches_every_operation(paths: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200)

    shared = Client("http://there", "t", http=httpx.MockTransport(answer))
    monkeypatch.setattr(command, "make_client", lambda options: contextlib.nullcontext(shared))
    parser = command.make_parser()
    monkeypatch.setattr(command, "make_parser", lambda: parser)
    every = [(method, re.sub(r"[{}]", "", path)) for method, path in operations(paths)]
    for method, path in every:
        assert command.main(["api", method, path, "-f", "x=1"]) == 0
    assert [(one.method, one.url.path) for one in asked] == every
    assert len(every) > 100


COMMANDS = (*command.CONTEXT, *things.NOUNS, "login", "run", "api")


def typed_in(page: str) -> list[list[str]]:
    """The commands in blocks and in sentences of a page."""
    found = re.findall(r"(?:^|`)waxwing ([a-z-][^`\n]*)", page, re.MULTILINE)
    every = [list(takewhile(lambda word: word not in (">", "|"), shlex.split(one, comments=True))) for one in found]
    return [words for words in every if words[0] in COMMANDS]


def test_commands_of_the_documentation_are_understood_and_ask_for_what_there_is(document: dict[str, Any]) -> None:
    paths, shapes = document["paths"], document["components"]["schemas"]
    pages = [ROOT / "docs" / "clients.md", ROOT / "clients" / "python" / "README.md"]
    parser, known = command.make_parser(), operations(paths)
    every = [words for page in pages for words in typed_in(page.read_text())]
    for words in every:
        given = parser.parse_args(words, defaults())
        if given.command == "api":
            asked = httpx.Request(given.method, f"http://there{api_path('http://there', given.path)[0]}")
            body = known[given.method, of(asked, paths)].get("requestBody", {"content": {}})["content"]
            shape = str(body.get("application/json", {}).get("schema", {}).get("$ref", "")).rpartition("/")[2]
            fields = shapes[shape]["properties"].keys() if body else ()
            assert {name.partition(".")[0] for name, _ in given.field} <= {*fields}, words
    assert len(every) > 10
