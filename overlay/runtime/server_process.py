"""One server as a process: real UDP, a journal, and a graceful leave.

Counterparts: ``overlay.runtime.udp`` drives it; the supervisor creates a ``ServerProcess`` and runs it in a forked
child; ``python -m overlay broker`` calls ``run_server``. The memory of servers is measured, so this module imports only
what every server needs.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlay.core.addresses import Address
from overlay.core.chance import Chance, Chances, derive_seed
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND, NEVER, SECOND, TimedEvent
from overlay.journal.facts import Event
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.logs.port import LogPort
from overlay.runtime.polled import Polled
from overlay.runtime.reporting import make_start, make_tick, prepare_journal
from overlay.runtime.udp import CannotBind, NodeDriver, bound_address, move_socket, open_group, open_socket
from overlay.runtime.usage import kernel_drops, machine_memory, memory, processor_us
from overlay.systems.contract import System
from overlay.systems.cores import Server, Usage
from overlay.systems.roles import Place

if TYPE_CHECKING:
    from overlay.core.streams import StreamUser
    from overlay.journal.recording import Recorder
    from overlay.runtime.tracelog import TraceLog

MakeShaper = Callable[[Address, LinkShape, Chance], Shaper]
"""Creates the shaper for datagrams to an address, from the shape and a random stream."""

OpenLog = Callable[[str, Any], LogPort]
"""Opens the log of a node: its name and the node."""

Wrap = Callable[[Server, Callable[[], Address]], Any]
"""Wraps a server; its second argument gives it another port, and returns the address that others use."""

SECRET_BYTES = 32
HAND_OVER_NS = 15 * SECOND
"""Maximum; shorter than ``fleet.DRAIN_GRACE`` by more than a leave."""
GIVING_STEP_NS = 20 * MILLISECOND
HANDED_OVER, DRAINED = "handed over", "drained"
"""The beginnings of the last words of a server that was drained; the second where its system hands nothing over."""


def plain_shaper(_: Address, shape: LinkShape, chance: Chance) -> Shaper:
    return Shaper(shape, chance)


class ServerProcess:
    """A server, its socket and its journal, composed but not running.

    It is created before the fork and bound to a process by ``run``. Objects created in a child are private memory, and
    so are all objects accessed to create them: 1.1 MB for each of ten idle brokers.
    """

    def __init__(
        self,
        system: System,
        config: Any,
        bind: Address,
        *,
        index: int = 0,
        servers: Sequence[Address] = (),
        links: Mapping[Address, LinkShape] | None = None,
        make_shaper: MakeShaper = plain_shaper,
        wrap: Wrap | None = None,
        open_log: OpenLog | None = None,
        seed: int,
        journal: Path | None = None,
        traces: Path | None = None,
        process: str = "",
        zero_ns: int = 0,
        lifeline_fd: int | None = None,
        address: Address | None = None,
        record_mb: int = 0,
        life: int = 1,
    ) -> None:
        """``config`` is the result of ``system.config_of``, ``index`` the server's index in ``servers``,
        ``process`` its name; by default the first of the system's first role.

        ``bind`` may have port 0. ``address`` is the address that others use, if different.

        ``links`` are the shapes of datagrams to neighbours, applied by the results of ``make_shaper``. ``wrap`` wraps
        the server, recorded or not. ``open_log`` opens its log, if it has one, when it runs. With a
        ``journal``, a tick is written every second, with times since ``zero_ns``, and with ``record_mb`` a recording of
        this ``life`` next to it. Without one, traces go to ``traces``. Raises ``CannotBind``, and ``OSError`` if the
        journal cannot be written.
        """
        self._system, self._process, self._zero_ns = system, process or f"{system.role_names[0]}-0", zero_ns
        self._recorder: Recorder | None = None
        self._traces: TraceLog | None = None
        if traces and system.is_traced(config):
            # Imported here to save memory in other brokers.
            from overlay.runtime.tracelog import TraceLog

            self._traces = TraceLog(traces)
        elif journal is None and system.is_traced(config):  # the traces would not be read
            config = system.untraced(config)
        self._journal = prepare_journal(journal) if journal else None
        self._sock = open_socket(bind)
        known_as = address or bound_address(self._sock)
        walks_seed, offset = derive_seed(seed, "walks"), wall_offset_ns()
        secret = os.urandom(SECRET_BYTES)
        chances = Chances.of_one(random.Random(walks_seed), secret)
        place = Place(self._process, index, known_as, servers or (known_as,))
        self._server: Server = system.make_server(config, place, chances, offset)
        system.time_server(self._server, time.thread_time_ns)
        if journal and record_mb:
            # Imported here to save memory in other servers.
            from overlay.journal.recorded import recorded
            from overlay.journal.recording import recording_path
            from overlay.systems.recordings import recorder_of

            self._recorder = recorder_of(
                system,
                config,
                place,
                ("random", walks_seed),
                offset,
                secret=secret,
                path=recording_path(journal, life),
                most_mb=record_mb,
                life=life,
                zero_ns=zero_ns,
            )
            self._server = recorded(self._server, self._recorder, time.monotonic_ns, system.queries)
        if wrap is not None:
            self._server = wrap(self._server, lambda: (known_as[0], move_socket(self._sock)[1]))
        self._open_log = open_log if hasattr(self._server, "subscriptions") else None
        self._listener = self._listening() if hasattr(self._server, "bytes_to_send") else None
        self._set_usage = getattr(self._server, "set_usage", None)
        self._group = self._joined(system.group(config, place))
        shapers = {
            neighbour: make_shaper(neighbour, shape, random.Random(derive_seed(seed, "link", *neighbour)))
            for neighbour, shape in (links or {}).items()
        }
        self._driver = NodeDriver(
            self._server,
            self._sock,
            shapers=shapers,
            lifeline_fd=lifeline_fd,
            on_second=self._report,
            knows=self._server.knows,
            group=self._group,
        )
        self.descriptors = tuple(one.fileno() for one in self._sockets)
        """The descriptors that are already open."""
        self.stop = self._driver.stop
        """Let ``run`` leave gracefully and return. Safe to call from a signal handler, and before ``run``."""
        self._is_draining = False

    @property
    def _sockets(self) -> list[socket.socket]:
        return [one for one in (self._sock, self._group, self._listener) if one is not None]

    def _listening(self) -> socket.socket:
        """For connections, at the address of its datagrams. Raises ``CannotBind``."""
        # Imported here to save memory in other servers.
        from overlay.runtime.streams import open_listener

        try:
            return open_listener(bound_address(self._sock))
        except CannotBind:
            self._sock.close()
            raise

    def _joined(self, group: Address | None) -> socket.socket | None:
        """Raises ``CannotBind``."""
        interface = bound_address(self._sock)[0]
        if group is None or ":" in interface:
            return None
        try:
            return open_group(group, interface)
        except CannotBind:
            self._sock.close()
            raise

    def drain(self) -> None:
        """``stop``, but hand over its entries to other servers before, and say on standard error how many."""
        self._is_draining = True
        self.stop()

    def close(self) -> None:
        """For processes in which it does not run."""
        for one in self._sockets:
            one.close()

    def run(self, on_ready: Callable[[Address], None], until: int = NEVER) -> int:
        """Run the server until stopped, the lifeline closes or, without leaving, ``until`` (ns). Returns the exit code.

        ``on_ready`` is called with the address as soon as datagrams are received. Raises the journal's ``OSError``.
        """
        server, driver, journal, system = self._server, self._driver, self._journal, self._system
        if journal is not None:
            journal.begin(make_start(self._process, self._zero_ns, server.address))
        if self._traces is not None:
            self._traces.begin(make_start(self._process, self._zero_ns, server.address))
        driver.polled = self._open_others()
        on_ready(server.address)
        driver.run(until)
        end = time.monotonic_ns()
        held = system.holdings(server, end)  # before leaving, during which it may hand over its entries
        if not driver.lifeline_closed and until == NEVER:
            if self._is_draining:
                self._hand_over()
            else:
                self._leave()
        for one in driver.polled:
            one.close(time.monotonic_ns())
        if journal is not None:
            self._report(time.monotonic_ns())
            for fact in system.closing_facts(self._process, held, (end - self._zero_ns) // 1000):
                journal.write(fact)
            journal.close()
        if self._traces is not None:
            self._traces.write(system.facts(self._process, server, self._zero_ns))
            self._traces.close()
        if self._recorder is not None:
            self._recorder.close()
        self.close()
        return 0

    def _open_others(self) -> Sequence[Polled]:
        """What the server has next to its datagrams: a log, connections."""
        found: list[Polled] = []
        if self._open_log is not None:
            found.append(self._open_log(self._process, self._server))
        if self._listener is not None:
            from overlay.runtime.streams import StreamPort

            found.append(StreamPort(cast("StreamUser", self._server), self._listener))
        return found

    def _report(self, now: int) -> None:
        """Every second: set the clock, and write events and a tick."""
        server, journal, system = self._server, self._journal, self._system
        server.set_wall_clock(wall_offset_ns())
        if self._set_usage is not None:
            self._set_usage(Usage(processor_us(), memory()[0], *machine_memory()), now)
        events = server.events()
        if self._traces is not None:
            self._traces.write(system.facts(self._process, server, self._zero_ns))
        if journal is None:
            return
        at_us = (now - self._zero_ns) // 1000
        for event in events:
            happened_us = (event.at - self._zero_ns) // 1000 if isinstance(event, TimedEvent) else at_us
            journal.write(Event(self._process, happened_us, type(event).__name__, event.detail()))
        for fact in system.facts(self._process, server, self._zero_ns):
            journal.write(fact)
        counters = server.statistics(now) | self._driver.counters | {"kernel_drops": kernel_drops(self._sock)}
        for one in self._driver.polled:
            counters |= one.counters
        journal.write(make_tick(self._process, at_us, counters))
        journal.flush()
        if self._recorder is not None:
            self._recorder.flush()

    def _hand_over(self) -> None:
        """Give its entries away, leave, and give away what came meanwhile."""
        system, server, now = self._system, self._server, time.monotonic_ns()
        until = now + HAND_OVER_NS
        system.hand_over(server, now)
        self._give_until(until)
        self._leave()
        self._give_until(until)
        left, given, lost = system.entries_to_give(server)
        words = f"{HANDED_OVER} {given:,} entries; {left + lost:,} were lost with it"
        if type(system).hand_over is System.hand_over:
            words = DRAINED
        with suppress(OSError):
            os.write(2, f"{words}\n".encode())

    def _give_until(self, until: int) -> None:
        driver = self._driver
        while self._system.entries_to_give(self._server)[0] and not driver.lifeline_closed:
            if (now := time.monotonic_ns()) >= until:
                return
            driver.is_stopping = False
            driver.run(until=min(until, now + GIVING_STEP_NS))

    def _leave(self) -> None:
        """Leave gracefully for as long as the system needs."""
        now = time.monotonic_ns()
        farewell_ns = self._server.leave(now)
        if farewell_ns:
            self._driver.is_stopping = False  # a second SIGTERM ends the leave
            self._driver.run(until=now + farewell_ns)


def run_server(process: ServerProcess, on_ready: Callable[[Address], None], until: int = NEVER) -> int:
    """``process.run`` in this process, stopped by SIGTERM and SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.stop())
    return process.run(on_ready, until)
