"""The logs of existing engines, with members that are polled here as in the loop of a process."""

from __future__ import annotations

import itertools
from dataclasses import replace
from select import select
from time import monotonic, monotonic_ns

from overlay.runtime.logs.engines import engine_at
from tests.log.reader import SPEC
from tests.waiting import BOUND_S

NUMBERS = itertools.count()
TURN_S = 0.02
QUICK = replace(SPEC, member_timeout_s=0.8)


class LiveLog:
    """``instance``: of the engine; its members are made by ``make``."""

    def __init__(self, instance, spec=QUICK):
        self.instance, self.spec = instance, spec
        self.nodes, self.ports, self._stopped = {}, {}, set()
        self.deployment = f"test {next(NUMBERS)} of [*]"

    def make(self, name, node):
        return engine_at(self.instance.url).open(self.spec, self.deployment, name, node)

    def start(self, name, node):
        self.nodes[name], self.ports[name] = node, self.make(name, node)
        return node

    def kill(self, name):
        self._stopped.discard(name)
        del self.nodes[name]
        self.ports.pop(name).set_cut(is_cut=True, now=monotonic_ns())

    def end(self, name):
        self._step(name)
        del self.nodes[name]
        self.ports.pop(name).close(monotonic_ns())

    def stop(self, name):
        self._stopped.add(name)

    def resume(self, name):
        self._stopped.discard(name)

    def down(self):
        self.instance.end()

    def up(self):
        self.instance.start()

    def turn(self):
        running = [name for name in self.nodes if name not in self._stopped]
        ports = [self.ports[name] for name in running]
        found = [one for port in ports for one in port.descriptors()]
        timer = min((port.next_timer() for port in ports), default=monotonic_ns())
        wait = min(max(0, timer - monotonic_ns()) / 1e9, TURN_S)
        select([fd for fd, _ in found], [fd for fd, writes in found if writes], [], wait)
        for name in running:
            self._step(name)

    def until(self, holds):
        end = monotonic() + BOUND_S
        while not holds():
            assert monotonic() < end, "it never comes to hold"
            self.turn()

    def while_others_go_on(self, name):
        """They take what is its own."""

    def close(self):
        for port in self.ports.values():
            port.set_cut(is_cut=True, now=monotonic_ns())
        self._erase()

    def _erase(self):
        engine_at(self.instance.url).erase(self.deployment)

    def _step(self, name):
        port, now = self.ports[name], monotonic_ns()
        port.handle(now)
        port.feed(now)
        port.take(now)


class MockedLog(LiveLog):
    """A mock that makes topics beforehand, and cannot erase them."""

    def __init__(self, instance, spec=QUICK):
        super().__init__(instance, spec)
        instance.prepare(self.deployment, spec.topics)

    def _erase(self): ...
