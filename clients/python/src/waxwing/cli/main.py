"""The command ``waxwing``: parses the arguments, calls one function, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from waxwing import config
from waxwing.cli import arguments, bridges, context, experiment, printing, things
from waxwing.cli.arguments import DONE, FAILED, INTERRUPTED, NO, NO_CONNECTION, USAGE, UsageError
from waxwing.config import Config
from waxwing.errors import (
    ApiError,
    NoAnswer,
    NoConnection,
    NotAllowed,
    NotAnswered,
    NotFound,
    NothingFound,
    NotInTime,
    PreconditionFailed,
    Refused,
    RunFailed,
    TooMany,
    WaxwingError,
)
from waxwing.version import VERSION

if TYPE_CHECKING:
    from waxwing._sync.client import Client

EXITS = """exit codes: 0 done; 1 an assertion failed, nothing was found, or a condition was not met; 2 wrong usage, or
the server refused the request; 3 a run failed; 4 no connection or no answer in time; 130 interrupted"""
CONTEXT = ("get", "put", "delete", "list", "watch", "batch")
ABOUT_API = """Any operation of the API, as /api/docs/ lists them. A request that changes something is sent again
after a broken connection only with --key."""
LONG = ("run", "watch")
"""They go on although the server starts again; the others tell soon that it is not there."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")


def make_parser() -> argparse.ArgumentParser:
    shared = arguments.common()
    about = "Client of Waxwing: context networks, experiments and their results."
    parser = argparse.ArgumentParser(prog="waxwing", description=about, epilog=EXITS, parents=[shared])
    parser.add_argument("--version", action="version", version=f"waxwing {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    login = commands.add_parser("login", parents=[shared], help="create a token and store it")
    login.add_argument("--username", help="asked for if omitted; the password is always asked for, or read from a pipe")
    login.add_argument("--read-only", action="store_true", help="a token that changes nothing")
    login.add_argument("--days", type=arguments.positive, metavar="N", help="days until it expires")
    login.add_argument("--name", default="waxwing", help="its name in the list of tokens (waxwing)")
    context.add(commands, shared)
    experiment.add(commands, shared)
    things.add(commands, shared)
    bridges.add(commands, shared)
    api = commands.add_parser("api", parents=[shared], help="any other operation of the API", description=ABOUT_API)
    api.add_argument("method", type=str.upper, choices=METHODS, metavar="METHOD", help=", ".join(METHODS))
    api.add_argument("path", metavar="PATH", help="such as hosts/ or /api/runs/ID/tables/; / lists the resources")
    arguments.add_fields(api, "parameter of GET, HEAD and DELETE, otherwise a field of the body; dots for nested ones")
    api.add_argument("--input", metavar="FILE", help="the body, as JSON or YAML; - for standard input. -f: parameters")
    api.add_argument("--all", action="store_true", help="all rows of a list, page by page, one JSON object a line")
    api.add_argument("-i", "--include", action="store_true", help="print status and headers first")
    api.add_argument("-H", "--header", action="append", default=[], metavar="NAME: VALUE")
    api.add_argument("--key", metavar="KEY", help="idempotency key")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    if sys.stdout is None:  # closed, as by `>&-`
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115
    try:
        code = _main(argv)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except OSError as error:  # standard output is closed, or its disk is full
        printing.say(f"waxwing: {error}")
        return USAGE
    return code


def _main(argv: Sequence[str] | None) -> int:
    try:
        options = make_parser().parse_args(argv, arguments.defaults())
    except SystemExit as end:  # help, or wrong usage, of which argparse has told
        return end.code if isinstance(end.code, int) else USAGE
    try:
        return _run(options)
    except (WaxwingError, UsageError) as error:
        return _failed(error, options)


def _run(options: argparse.Namespace) -> int:
    if options.command == "login":
        return _login(options)
    if getattr(options, "brokers", None):
        return context.by_udp(options)
    with make_client(options) as client:
        if options.command in CONTEXT:
            return context.run(client, options)
        if options.command == "bridges":
            return bridges.run(client, options)
        if options.command == "run":
            return experiment.run(client, options)
        return _api(client, options) if options.command == "api" else things.run(client, options)


def make_client(options: argparse.Namespace, token: str | None = None) -> Client:
    """``httpx`` is imported only here."""
    from waxwing._sync.client import Client
    from waxwing.retries import Retry

    is_long = options.command in LONG or getattr(options, "action", "") == "wait"
    limit_s = options.timeout or 60.0
    retry = Retry(budget_s=min(60.0, limit_s)) if is_long else Retry(attempts=4, budget_s=min(60.0, limit_s))
    return Client(options.url, token, ca=options.ca, timeout_s=min(30.0, limit_s), retry=retry)


def _failed(error: Exception, options: argparse.Namespace) -> int:
    sentence = error.told if isinstance(error, ApiError) else str(error)
    if isinstance(error, NotFound) and error.request:
        sentence += f" ({error.request})"
    if options.json:
        details: dict[str, Any] = {"sentence": sentence}
        if isinstance(error, ApiError):
            details |= {"status": error.status, "code": error.code, "field": error.field}
        sys.stdout.write(json.dumps({"error": details}) + "\n")
    else:
        printing.say(f"waxwing: {sentence}")
        if isinstance(error, NotAllowed) and error.status == 401 and options.command != "login":
            printing.say("`waxwing login` creates a token and stores it.")
    return exit_code(error, options.command)


def exit_code(error: Exception, command: str) -> int:
    if isinstance(error, NoConnection | NotInTime | NotAnswered | TooMany | NoAnswer):
        return NO_CONNECTION
    if isinstance(error, RunFailed):
        return FAILED
    is_no = isinstance(error, NotFound | PreconditionFailed | NothingFound | Refused)
    return NO if is_no and command != "run" else USAGE


def _login(options: argparse.Namespace) -> int:
    username, password = _asked(options.username)
    scope = "read" if options.read_only else "write"
    with make_client(options, "") as client:
        token = client.log_in(username, password, name=options.name, scope=scope, days=options.days)
        path = config.file_path(os.environ)
        config.write(Config(client.config.url, token, client.config.ca), path)
    printing.show({"url": client.config.url, "stored": str(path)}, as_json=options.json)
    return DONE


def _asked(username: str | None) -> tuple[str, str]:
    """User name and password, from a terminal or from the lines of a pipe."""
    if not sys.stdin.isatty():
        username = username or sys.stdin.readline().rstrip("\r\n")
        password = sys.stdin.readline().rstrip("\r\n")
    else:
        from getpass import getpass

        try:
            username = username or input("Username: ")
            password = getpass()
        except EOFError:
            raise UsageError("a user name and a password are needed") from None
    if not username or not password:
        raise UsageError("a user name and a password are needed, on a terminal or as two lines of standard input")
    return username, password


def _api(client: Client, options: argparse.Namespace) -> int:
    if options.all:
        return _api_rows(client, options)
    is_read = options.method in ("GET", "HEAD", "DELETE")
    has_parameters = is_read or options.input is not None
    query = arguments.parameters(options.field) if has_parameters else None
    body: Any = arguments.nested(options.field) or None if not has_parameters else None
    if options.input is not None:
        body = arguments.sendable(arguments.text_of(options.input))
    headers = {"Accept": "*/*", **dict(_header(one) for one in options.header)}
    answer = client.api(options.method, options.path, query=query, body=body, key=options.key or False, headers=headers)
    if options.include:
        lines = "".join(f"{name}: {printing.printable(value)}\n" for name, value in answer.headers.items())
        sys.stdout.write(f"{answer.status}\n{lines}\n")
    printing.document(answer.content, answer.headers.get("content-type", ""))
    return DONE


def _api_rows(client: Client, options: argparse.Namespace) -> int:
    if options.method != "GET" or options.input is not None:
        raise UsageError("--all is for GET")
    for row in client.rows(options.path, **arguments.parameters(options.field)):
        printing.line(row)
    return DONE


def _header(text: str) -> tuple[str, str]:
    name, is_pair, value = text.partition(":")
    if not is_pair:
        raise UsageError(f"-H {text!r}: expected NAME: VALUE")
    return name.strip(), value.strip()
