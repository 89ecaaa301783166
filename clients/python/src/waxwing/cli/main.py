"""The command ``waxwing``: parses the arguments, calls one function, and turns errors into exit codes."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from waxwing import config
from waxwing._sync.client import Client
from waxwing.cli import arguments, bridges, context, experiment, printing, things
from waxwing.cli.arguments import DONE, FAILED, INTERRUPTED, NO, NO_CONNECTION, USAGE, UsageError
from waxwing.config import Config
from waxwing.errors import (
    ApiError,
    NoConnection,
    NotAnswered,
    NotFound,
    NotInTime,
    PreconditionFailed,
    RunFailed,
    TooMany,
    WaxwingError,
)
from waxwing.udp import NoAnswer, NothingFound, Refused

EXITS = """exit codes: 0 done; 1 an assertion failed, nothing was found, or a condition was not met; 2 wrong usage, or
the server refused the request; 3 a run failed; 4 no connection or no answer in time; 130 interrupted"""
CONTEXT = ("get", "put", "delete", "list", "watch", "batch")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="waxwing", description="Client of Waxwing.", epilog=EXITS)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    shared = arguments.common()
    login = commands.add_parser("login", parents=[shared], help="create a token and store it")
    login.add_argument("--username", help="asked for if omitted; the password is always asked for, or read from a pipe")
    login.add_argument("--read-only", action="store_true", help="a token that changes nothing")
    context.add(commands, shared)
    experiment.add(commands, shared)
    things.add(commands, shared)
    bridges.add(commands, shared)
    api = commands.add_parser("api", parents=[shared], help="any other operation of the API")
    api.add_argument("method", type=str.upper, choices=METHODS, metavar="METHOD")
    api.add_argument("path", metavar="PATH", help="such as hosts/ or /api/runs/ID/tables/")
    arguments.add_fields(api, "parameter of GET, HEAD and DELETE, otherwise a field of the body; dots for nested ones")
    api.add_argument("--input", metavar="FILE", help="the body, as JSON or YAML; - for standard input")
    api.add_argument("-H", "--header", action="append", default=[], metavar="NAME: VALUE")
    api.add_argument("--key", metavar="KEY", help="idempotency key")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(argv)
    try:
        return _run(options)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as `head`, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except (WaxwingError, UsageError) as error:
        return _failed(error, options)


def _run(options: argparse.Namespace) -> int:
    if options.command == "login":
        return _login(options)
    with Client(options.url) as client:
        if options.command in CONTEXT:
            return context.run(client, options)
        if options.command == "bridges":
            return bridges.run(client, options)
        if options.command == "run":
            return experiment.run(client, options)
        return _api(client, options) if options.command == "api" else things.run(client, options)


def _failed(error: Exception, options: argparse.Namespace) -> int:
    sentence = error.told if isinstance(error, ApiError) else str(error)
    if options.json:
        details: dict[str, Any] = {"sentence": sentence}
        if isinstance(error, ApiError):
            details |= {"status": error.status, "code": error.code, "field": error.field}
        sys.stdout.write(json.dumps({"error": details}) + "\n")
    else:
        printing.say(f"waxwing: {sentence}{_advice(error, options.command)}")
    return exit_code(error, options.command)


def _advice(error: Exception, command: str) -> str:
    is_unknown = isinstance(error, ApiError) and error.status == 401 and command != "login"
    return " `waxwing login` stores a token." if is_unknown else ""


def exit_code(error: Exception, command: str) -> int:
    if isinstance(error, NoConnection | NotInTime | NotAnswered | TooMany | NoAnswer):
        return NO_CONNECTION
    if isinstance(error, RunFailed):
        return FAILED
    is_no = isinstance(error, NotFound | PreconditionFailed | NothingFound | Refused)
    return NO if is_no and command != "run" else USAGE


def _login(options: argparse.Namespace) -> int:
    has_terminal = sys.stdin.isatty()
    username = options.username or (input("Username: ") if has_terminal else sys.stdin.readline().rstrip("\n"))
    password = getpass.getpass() if has_terminal else sys.stdin.readline().rstrip("\n")
    with Client(options.url, "") as client:
        token = client.log_in(username, password, scope="read" if options.read_only else "write")
        path = config.file_path(os.environ)
        config.write(Config(client.config.url, token), path)
    printing.show({"url": client.config.url, "stored": str(path)}, as_json=options.json)
    return DONE


def _api(client: Client, options: argparse.Namespace) -> int:
    is_read = options.method in ("GET", "HEAD", "DELETE")
    fields = arguments.nested(options.field)
    body: Any = None if is_read or not fields else fields
    if options.input:
        body = arguments.sendable(arguments.text_of(options.input))
    headers = dict(_header(one) for one in options.header)
    answer = client.api(
        options.method,
        options.path,
        query=dict(options.field) if is_read else None,
        body=body,
        key=options.key or False,
        headers={"Accept": "*/*", **headers},
    )
    sys.stdout.flush()
    if "json" in answer.headers.get("content-type", "") and sys.stdout.isatty():
        sys.stdout.write(json.dumps(answer.data, ensure_ascii=False, indent=2) + "\n")
    else:
        sys.stdout.buffer.write(answer.content)
    return DONE


def _header(text: str) -> tuple[str, str]:
    name, is_pair, value = text.partition(":")
    if not is_pair:
        raise UsageError(f"-H {text!r}: expected NAME: VALUE")
    return name.strip(), value.strip()
