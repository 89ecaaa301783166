"""One server as a process: real UDP, a journal, and a proper farewell.

Counterparts: ``overlay.runtime.udp`` drives it; the supervisor makes a ``ServerProcess`` and runs it in a forked child,
``python -m overlay broker`` calls ``run_server``. A server's memory is measured, so nothing is imported here that it
does not need.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlay.core.addresses import Address
from overlay.core.chance import Chance, Chances, derive_seed
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import NEVER
from overlay.journal.facts import Event
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.reporting import make_start, make_tick, prepare_journal
from overlay.runtime.udp import NodeDriver, bound_address, open_socket
from overlay.runtime.usage import kernel_drops
from overlay.systems.contract import Place, Server, System

if TYPE_CHECKING:
    from overlay.journal.recording import Recorder
    from overlay.runtime.tracelog import TraceLog

MakeShaper = Callable[[Address, LinkShape, Chance], Shaper]
"""Of whom it shapes what goes to, how, and by what chance."""


def plain_shaper(_: Address, shape: LinkShape, chance: Chance) -> Shaper:
    return Shaper(shape, chance)


class ServerProcess:
    """A server, its socket and its journal, composed and not yet running.

    Nothing here is bound to a process before ``run``: it is made before the fork, as what is made in a child is its
    own, and so is everything that making it looks at: 1.1 MB of each of ten idle brokers.
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
        seed: int,
        journal: Path | None = None,
        traces: Path | None = None,
        process: str = "server",
        zero_ns: int = 0,
        lifeline_fd: int | None = None,
        address: Address | None = None,
        record_mb: int = 0,
        life: int = 1,
    ) -> None:
        """``config`` is as ``system.config_of`` makes it, ``index`` the server's among all ``servers``.

        ``bind`` may have port 0. ``address`` is what others know it by, where that is not what it is bound to.

        ``links`` shapes what goes to these neighbours, each by what ``make_shaper`` makes. With a ``journal`` there is
        one tick a second in it, in time since ``zero_ns``, and beside it the recording of this ``life`` with up to
        ``record_mb``. Without one, what is traced goes to ``traces``. Raises ``CannotBind``, and ``OSError`` when the
        journal cannot be written.
        """
        self._system, self._process, self._zero_ns = system, process, zero_ns
        self._recorder: Recorder | None = None
        self._traces: TraceLog | None = None
        if traces and system.is_traced(config):
            # Only here: other brokers would carry it.
            from overlay.runtime.tracelog import TraceLog

            self._traces = TraceLog(traces)
        elif journal is None and system.is_traced(config):  # nobody reads what would be traced
            config = system.untraced(config)
        self._journal = prepare_journal(journal) if journal else None
        self._sock = open_socket(bind)
        known_as = address or bound_address(self._sock)
        walks_seed, offset = derive_seed(seed, "walks"), wall_offset_ns()
        chances = Chances.of_one(random.Random(walks_seed))
        place = Place(index, known_as, servers or (known_as,))
        self._server: Server = system.make_server(config, place, chances, offset)
        if journal and record_mb:
            # Only here: other servers would carry it.
            from overlay.journal.recorded import RecordedServer
            from overlay.journal.recording import recording_path
            from overlay.systems.recordings import recorder_of

            self._recorder = recorder_of(
                system,
                config,
                place,
                ("random", walks_seed),
                offset,
                path=recording_path(journal, life),
                most_mb=record_mb,
                process=process,
                life=life,
                zero_ns=zero_ns,
            )
            self._server = RecordedServer(self._server, self._recorder, time.monotonic_ns)
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
        )
        self.descriptors = (self._sock.fileno(),)
        """What it holds open already."""
        self.stop = self._driver.stop
        """Make ``run`` say farewell and return. Safe to call from a signal handler, and before ``run``."""

    def close(self) -> None:
        """For a process in which it does not run."""
        self._sock.close()

    def run(self, on_ready: Callable[[Address], None], until: int = NEVER) -> int:
        """Be the server until stopped, the lifeline closes or, without a farewell, ``until`` (ns); the exit code.

        ``on_ready`` is called with the address once datagrams are kept. Raises ``OSError`` as the journal does.
        """
        server, driver, journal, system = self._server, self._driver, self._journal, self._system
        if journal is not None:
            journal.begin(make_start(self._process, self._zero_ns, server.address))
        if self._traces is not None:
            self._traces.begin(make_start(self._process, self._zero_ns, server.address))
        on_ready(server.address)
        driver.run(until)
        end = time.monotonic_ns()
        held = system.holdings(server, end)  # before the farewell, in which it may hand all of it on
        if not driver.lifeline_closed and until == NEVER:
            self._leave()
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
        self._sock.close()
        return 0

    def _report(self, now: int) -> None:
        """Each second: set the clock, and write down what has happened and what this process looks like."""
        server, journal, system = self._server, self._journal, self._system
        server.set_wall_clock(wall_offset_ns())
        events = server.events()
        if self._traces is not None:
            self._traces.write(system.facts(self._process, server, self._zero_ns))
        if journal is None:
            return
        at_us = (now - self._zero_ns) // 1000
        for event in events:
            journal.write(Event(self._process, at_us, type(event).__name__, event.detail()))
        for fact in system.facts(self._process, server, self._zero_ns):
            journal.write(fact)
        counters = server.statistics(now) | self._driver.counters | {"kernel_drops": kernel_drops(self._sock)}
        journal.write(make_tick(self._process, at_us, counters))
        journal.flush()
        if self._recorder is not None:
            self._recorder.flush()

    def _leave(self) -> None:
        """Say farewell for as long as the system wants, then be done."""
        now = time.monotonic_ns()
        farewell_ns = self._system.leave(self._server, now)
        if farewell_ns:
            self._driver.is_stopping = False  # a second SIGTERM cuts the farewell short
            self._driver.run(until=now + farewell_ns)


def run_server(process: ServerProcess, on_ready: Callable[[Address], None], until: int = NEVER) -> int:
    """``process.run`` in this process, which SIGTERM and SIGINT stop."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.stop())
    return process.run(on_ready, until)
