"""A gateway with its server in the loop of a thread: real UDP and HTTP on loopback, without processes."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
import time
from contextlib import contextmanager
from ipaddress import ip_network

from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.programs.radiator.gateway import Gateway
from overlay.programs.radiator.http_front import Front
from overlay.programs.radiator.limits import Limits
from overlay.systems.radiator.chains import relayed
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import ServerConfig, Settings
from tests.waiting import BOUND_S

PATIENT = dict.fromkeys(("push_s", "callback_s", "request_s", "write_s"), BOUND_S)
LOOPBACK = [ip_network("127.0.0.0/8")]


class Standing:
    """Settings of the server, its core, and requests to the gateway."""

    def __init__(self, limits, **settings):
        self.loop = asyncio.new_event_loop()
        self._limits, self._settings = limits, settings
        self._transport = Transport(tries=8, alive_s=settings.get("alive_s", 30))
        self._ready, self._is_over = threading.Event(), asyncio.Event()
        self.address = self.core = self.gateway = self.front = self.server = None
        self.is_deaf = False
        """Whether the server ignores everything."""

    def run(self):
        try:
            self.loop.run_until_complete(self._run())
        finally:
            self._ready.set()
            self.loop.close()

    async def _run(self):
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.bind(("127.0.0.1", 0))
        self._sock.setblocking(False)
        self.server, self._timer = self._sock.getsockname(), None
        self.loop.add_reader(self._sock, self._step)
        self.restart()
        self.gateway = Gateway(self.server, BOUND_S, self._limits, LOOPBACK, self._transport)
        self.front = Front(self.gateway)
        keeper = asyncio.create_task(self.gateway.keep())
        async with self.front.serving(("127.0.0.1", 0)) as self.address:
            self._ready.set()
            await self._is_over.wait()
        keeper.cancel()
        await self.gateway.close()
        self.loop.remove_reader(self._sock)
        if self._timer is not None:
            self._timer.cancel()
        self._sock.close()

    def restart(self, seed=1):
        """A new life of the server, with nothing in its table."""
        self.core = Service(ServerConfig(Settings(**self._settings)), self.server, Chances.streams(seed))

    def _step(self):
        datagrams = []
        try:
            while True:
                datagrams.append(self._sock.recvfrom(65_535))
        except OSError:
            pass
        if not self.is_deaf:
            self.core.receive_datagrams(datagrams, time.monotonic_ns())
            self.core.handle_timer(time.monotonic_ns())
            for data, to in self.core.datagrams_to_send():
                self._sock.sendto(data, to)
        if self._timer is not None:
            self._timer.cancel()
        timer = self.core.next_timer()
        if timer is not None and not self.is_deaf:
            self._timer = self.loop.call_later(max(0, timer - time.monotonic_ns()) / SECOND, self._step)

    def do(self, function):
        """Call a function in the loop."""

        async def call():
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self.loop).result(BOUND_S)

    # ---- requests

    @property
    def url(self):
        return "http://{}:{}".format(*self.address)

    def connect(self):
        return http.client.HTTPConnection(*self.address, timeout=BOUND_S)

    def ask(self, method, path, document=None, *, body=None, **headers):
        """Status and document."""
        connection = self.connect()
        data = json.dumps(document).encode() if body is None and document is not None else body
        try:
            connection.request(
                method, f"/radiator/v1{path}", data, {k.replace("_", "-"): v for k, v in headers.items()}
            )
            answer = connection.getresponse()
            text = answer.read()
            self.headers = answer.headers
            return answer.status, json.loads(text) if text else None
        finally:
            connection.close()

    def status(self):
        return self.ask("GET", "/status")[1]


@contextmanager
def standing(limits=None, **settings):
    """``limits`` are those that differ from the patient ones of a busy machine."""
    made = Standing(Limits(**{**PATIENT, **(limits or {})}), **settings)
    thread, hold = threading.Thread(target=made.run), relayed.HOLD
    relayed.HOLD = BOUND_S * SECOND
    thread.start()
    try:
        assert made._ready.wait(BOUND_S) and made.address
        yield made
    finally:
        made.loop.call_soon_threadsafe(made._is_over.set)
        thread.join()
        relayed.HOLD = hold
