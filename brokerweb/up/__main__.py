"""``python -m brokerweb.up [--port N] [--down]``: the house from nothing to ready, and its end."""

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

REDIS_S = 30.0
PREPARATION_S = 180.0
READY_S = 180.0
"""How long each may take on a slow, loaded machine before it is called broken."""


def check_port(port: int) -> int:
    """The port to listen on; 0 picks one. Raises ``WaxwingError`` where it cannot be had."""
    if port == 0:
        return redis.free_port()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise WaxwingError(
                    f"port {port} is in use by another program; choose another: make up PORT={port + 1}"
                ) from None
            raise WaxwingError(f"port {port} cannot be used: {error.strerror}") from None
    return port


def check_database(environment: Mapping[str, str], var: Path) -> None:
    """Raises ``WaxwingError`` where ``DATABASE_URL`` cannot be read or names a server that does not answer."""
    databases.database(environment, var)
    if problem := databases.no_answer(environment):
        raise WaxwingError(problem)


def room_missing(readiness: str) -> str:
    """The sentence on the disk where nothing else is missing; empty otherwise."""
    try:
        told = json.loads(readiness)
        missing = [name for name, holds in told["checks"].items() if not holds]
        return str(told["missing"][0]) if missing == ["disk"] else ""
    except (ValueError, KeyError, TypeError):
        return ""


def tell(line: str) -> None:
    """One of the two lines on standard output; where that is a file on a full disk it is lost."""
    with suppress(OSError):
        print(line, flush=True)


class House:
    """One ``make up``: the steps from nothing to ready."""

    def __init__(self, home: Home, port: int) -> None:
        self._home = home
        self._port = port
        self._host = host_name(os.environ)
        self._redis = redis.choose(os.environ, home.redis)
        self._readiness = "no answer yet"
        own = {"REDIS_URL": self._redis.url, "WAXWING_VAR": str(home.var), "WAXWING_HOST": self._host}
        # Links in notifications lead here, unless somebody says that readers come by another address.
        # And readers have the addresses that they come from: uvicorn would believe X-Forwarded-For from this machine,
        # so that whoever guesses passwords here could name another address each time.
        reached = {"WAXWING_URL": f"http://127.0.0.1:{port}", "FORWARDED_ALLOW_IPS": ""}
        self._manager = Manager(home.logs, {**reached, **os.environ, **own})

    def run(self) -> int:
        """The exit code: 0 when asked to end, 1 when something failed for good."""
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
                raise WaxwingError("the Redis server that REDIS_URL names does not answer")
            return
        try:
            self._run_redis()
        except PartFailed:
            aside = redis.set_aside(self._home.redis)
            if aside is None:
                raise
            say(f"redis: its queue could not be read and was moved to {aside}; no run or report is lost by that")
            self._manager.forget("redis")
            self._run_redis()

    def _run_redis(self) -> None:
        assert self._redis.command is not None
        self._manager.want(Part("redis", self._redis.command))
        self._manager.run_until(
            lambda: redis.answers(self._redis.url), REDIS_S, "the Redis server does not answer", every=0.05
        )

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
                return True  # nothing can be launched, but what to remove is chosen in the house
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
        """The supervisor after the worker, which would start it again; Redis last."""
        self._manager.end(keep=("redis",))
        end_supervisor(self._home.supervisor_socket)
        self._manager.end()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m brokerweb.up", description="Runs everything, until Ctrl-C.")
    parser.add_argument("--port", type=int, default=8000, help="port of the web on 127.0.0.1; 0 picks one")
    parser.add_argument("--down", action="store_true", help="end what runs here instead")
    options = parser.parse_args()
    home = Home(Path(os.environ.get("WAXWING_VAR") or ROOT / "var").resolve())
    try:
        if options.down:
            print(take_down(home))
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
