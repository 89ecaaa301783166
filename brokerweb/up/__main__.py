"""``python -m brokerweb.up`` runs the installation; ``--down`` stops it, and ``--log-url`` tells where its logs are."""

from __future__ import annotations

import argparse
import errno
import json
import os
import socket
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from brokerweb import databases
from brokerweb.up import redis
from brokerweb.up.home import Home, end_supervisor, take_down
from brokerweb.up.manager import AskedToEnd, Manager, PartFailed, say
from brokerweb.up.parts import ROOT, Part, host_name, house, preparations
from overlay.core.errors import WaxwingError, describe_os_error
from overlay.runtime.redis_server import free_port

REDIS_S = 30.0
PREPARATION_S = 180.0
READY_S = 180.0
"""Timeouts for a slow, loaded machine."""


def check_port(port: int) -> int:
    """The port to listen on; 0 picks a free one. Raises ``WaxwingError`` if it is unavailable."""
    if port == 0:
        return free_port()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise WaxwingError(
                    f"port {port} is in use by another program. Choose another one: make up PORT={port + 1}"
                ) from None
            raise WaxwingError(f"port {port} cannot be used: {error.strerror}") from None
    return port


def check_database(environment: Mapping[str, str], var: Path) -> None:
    """Raises ``WaxwingError`` if ``DATABASE_URL`` is invalid or its server does not respond."""
    databases.database(environment, var)
    if problem := databases.no_answer(environment):
        raise WaxwingError(problem)


def room_missing(readiness: str) -> str:
    """The disk-space message if it is the only problem; otherwise empty."""
    try:
        told = json.loads(readiness)
        missing = [name for name, holds in told["checks"].items() if not holds]
        return str(told["missing"][0]) if missing == ["disk"] else ""
    except (ValueError, KeyError, TypeError):
        return ""


def tell(line: str) -> None:
    """Print one of the two lines; lost if standard output is a file on a full disk."""
    with suppress(OSError):
        print(line, flush=True)


class House:
    """One ``make up``: the steps until ready."""

    def __init__(self, home: Home, port: int) -> None:
        self._home = home
        self._port = port
        self._host = host_name(os.environ)
        self._redis = redis.choose(os.environ, home.redis)
        self._redis_of_logs = redis.choose_for_logs(os.environ, home.redis_of_logs)
        self._readiness = "no answer yet"
        own = {
            redis.QUEUE_VARIABLE: self._redis.url,
            redis.LOG_VARIABLE: redis.addresses_of_logs(os.environ, self._redis_of_logs),
            "WAXWING_VAR": str(home.var),
            "WAXWING_HOST": self._host,
        }
        # Links in notifications use this address, unless another one is configured. uvicorn must not trust
        # X-Forwarded-For from this machine, or password guessing could use a new client address each time.
        reached = {"WAXWING_URL": f"http://127.0.0.1:{port}", "FORWARDED_ALLOW_IPS": ""}
        self._manager = Manager(home.logs, {**reached, **os.environ, **own})

    def run(self) -> int:
        """The exit code: 0 when stopped, 1 after a permanent failure."""
        try:
            self._start()
            self._manager.run_for_ever(self._look_after_redis)
        except AskedToEnd:
            say("ending")
            return 0
        except WaxwingError as error:
            say(f"up: {error}")
            return 1
        finally:
            self._end()

    def _start(self) -> None:
        self._start_redis()
        self._start_redis_of_logs()
        for part in preparations():
            self._manager.want(part)
            done = partial(self._manager.is_done, part.name)
            self._manager.run_until(done, PREPARATION_S, f"{part.name} has not ended", every=0.1)
            self._manager.forget(part.name)
        self._manager.want(*house(self._port, self._host))
        try:
            self._manager.run_until(self._is_ready, READY_S, "not everything answers", every=0.5)
        except PartFailed:
            raise
        except WaxwingError as error:
            raise WaxwingError(f"{error}; /readyz said: {self._readiness}") from None
        self._announce()

    def _start_redis(self) -> None:
        if self._redis.command is None:
            if not redis.answers(self._redis.url):
                raise WaxwingError("the Redis server of REDIS_URL does not answer")
            return
        try:
            self._run_redis()
        except PartFailed:
            aside = redis.set_aside(self._home.redis)
            if aside is None:
                raise
            say(f"redis: the queue file was unreadable and was moved to {aside}; no run or report is lost")
            self._manager.forget("redis")
            self._run_redis()

    def _run_redis(self) -> None:
        assert self._redis.command is not None
        self._manager.want(Part("redis", self._redis.command))
        self._manager.run_until(
            lambda: redis.answers(self._redis.url), REDIS_S, "the Redis server does not answer", every=0.05
        )

    def _start_redis_of_logs(self) -> None:
        """An unreadable file is not set aside by itself: acknowledged records would be lost without a word."""
        url, command = self._redis_of_logs.url, self._redis_of_logs.command
        if command is None:
            if not redis.answers(url):
                raise WaxwingError(f"the Redis server of {redis.LOG_VARIABLE} does not answer")
            return
        self._manager.want(Part(redis.OF_LOGS, command))
        try:
            self._manager.run_until(lambda: redis.answers(url), REDIS_S, "it does not answer", every=0.05)
        except WaxwingError as error:
            moved = f"To start without the records of networks that are up, move {self._home.redis_of_logs} away."
            raise WaxwingError(f"the Redis server of logs: {error}. {moved}") from None

    def _look_after_redis(self) -> None:
        if self._redis.command is not None and (done := redis.keep_accepting(self._redis.url, self._home.redis)):
            say(f"redis: {done}")

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/readyz", timeout=2) as answer:
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            self._readiness = error.read(2000).decode(errors="replace").strip()
            if short := room_missing(self._readiness):
                say(f"up: {short}")
                return True  # launches are impossible, but space can be freed on the storage page
        except OSError as error:
            self._readiness = str(error)
        return False

    def _announce(self) -> None:
        tell(f"ready http://127.0.0.1:{self._port}")
        try:
            operator = json.loads(self._home.operator.read_text())
            tell(f"login {operator['username']} {operator['password']}")
        except (OSError, ValueError, KeyError) as error:
            say(f"the operator's password cannot be read from {self._home.operator}: {error}")

    def _end(self) -> None:
        """Stop the supervisor after the worker, which would restart it; the Redis servers last."""
        self._manager.end(keep=("redis", redis.OF_LOGS))
        end_supervisor(self._home.supervisor_socket)
        self._manager.end()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m brokerweb.up", description="Runs all processes until Ctrl-C.")
    parser.add_argument("--port", type=int, default=8000, help="port of the web server on 127.0.0.1; 0: any free one")
    parser.add_argument("--down", action="store_true", help="stop the running installation")
    parser.add_argument(
        "--log-url", action="store_true", help="print the address of the running server of logs, with its password"
    )
    options = parser.parse_args()
    home = Home(Path(os.environ.get("WAXWING_VAR") or ROOT / "var").resolve())
    try:
        if options.down:
            print(take_down(home))
            return 0
        if options.log_url:
            print(redis.running_for_logs(home.redis_of_logs))
            return 0
        with home.claim():
            check_database(os.environ, home.var)
            return House(home, check_port(options.port)).run()
    except OSError as error:
        say(f"up: {describe_os_error(error)}")
    except (WaxwingError, OverflowError) as error:
        say(f"up: {error}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
