"""One broker as a process: real UDP, a journal, and a proper farewell.

Counterparts: ``overlay.runtime.udp`` drives it; the supervisor makes a ``BrokerProcess`` and runs it in a forked child,
``python -m overlay broker`` calls ``run_broker``. A broker's memory is measured, so nothing is imported here that it
does not need.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from overlay.core.addresses import Address
from overlay.core.chance import Chance, Chances, derive_seed
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import NEVER
from overlay.journal.facts import Event
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.reporting import make_start, make_tick, prepare_journal
from overlay.runtime.udp import NodeDriver, bound_address, open_socket
from overlay.runtime.usage import kernel_drops
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.joining import FAREWELL_GAP, FAREWELLS
from overlay.systems.context_broker.broker.reports import make_holdings, make_traces

if TYPE_CHECKING:
    from overlay.journal.recording import Recorder
    from overlay.runtime.tracelog import TraceLog

MakeShaper = Callable[[Address, LinkShape, Chance], Shaper]
"""Of whom it shapes what goes to, how, and by what chance."""


def plain_shaper(_: Address, shape: LinkShape, chance: Chance) -> Shaper:
    return Shaper(shape, chance)


class BrokerProcess:
    """A broker, its socket and its journal, composed and not yet running.

    Nothing here is bound to a process before ``run``: it is made before the fork, as what is made in a child is its
    own, and so is everything that making it looks at: 1.1 MB of each of ten idle brokers.
    """

    def __init__(
        self,
        config: BrokerConfig,
        bind: Address,
        *,
        links: Mapping[Address, LinkShape] | None = None,
        make_shaper: MakeShaper = plain_shaper,
        seed: int,
        journal: Path | None = None,
        traces: Path | None = None,
        process: str = "broker",
        zero_ns: int = 0,
        lifeline_fd: int | None = None,
        address: Address | None = None,
        record_mb: int = 0,
        life: int = 1,
    ) -> None:
        """``bind`` may have port 0. ``address`` is what others know it by, where that is not what it is bound to.

        ``links`` shapes what goes to these neighbours, each by what ``make_shaper`` makes. With a ``journal`` there is
        one tick a second in it, in time since ``zero_ns``, and beside it the recording of this ``life`` with up to
        ``record_mb``. Without one, what is traced goes to ``traces``. Raises ``CannotBind``, and ``OSError`` when the
        journal cannot be written.
        """
        self._process, self._zero_ns = process, zero_ns
        self._recorder: Recorder | None = None
        self._traces: TraceLog | None = None
        if traces and config.trace_one_in:
            # Only here: other brokers would carry it.
            from overlay.runtime.tracelog import TraceLog

            self._traces = TraceLog(traces)
        elif journal is None and config.trace_one_in:  # nobody reads what would be traced
            config = replace(config, trace_one_in=0)
        self._journal = prepare_journal(journal) if journal else None
        self._sock = open_socket(bind)
        known_as = address or bound_address(self._sock)
        walks_seed, offset = derive_seed(seed, "walks"), wall_offset_ns()
        chances = Chances.of_one(random.Random(walks_seed))
        if journal and record_mb:
            # Only here: other brokers would carry it.
            from overlay.journal.recorded import RecordedBroker, recorder_of
            from overlay.journal.recording import recording_path

            self._recorder = recorder_of(
                config,
                known_as,
                ("random", walks_seed),
                offset,
                path=recording_path(journal, life),
                most_mb=record_mb,
                process=process,
                life=life,
                zero_ns=zero_ns,
            )
            self._broker: Broker = RecordedBroker(
                config, known_as, chances, offset, recorder=self._recorder, clock=time.monotonic_ns
            )
        else:
            self._broker = Broker(config, known_as, chances, offset)
        shapers = {
            neighbour: make_shaper(neighbour, shape, random.Random(derive_seed(seed, "link", *neighbour)))
            for neighbour, shape in (links or {}).items()
        }
        self._driver = NodeDriver(
            self._broker,
            self._sock,
            shapers=shapers,
            lifeline_fd=lifeline_fd,
            on_second=self._report,
            knows=self._broker.knows,
        )
        self.descriptors = (self._sock.fileno(),)
        """What it holds open already."""
        self.stop = self._driver.stop
        """Make ``run`` say farewell and return. Safe to call from a signal handler, and before ``run``."""

    def close(self) -> None:
        """For a process in which it does not run."""
        self._sock.close()

    def run(self, on_ready: Callable[[Address], None], until: int = NEVER) -> int:
        """Be the broker until stopped, the lifeline closes or, without a farewell, ``until`` (ns); the exit code.

        ``on_ready`` is called with the address once datagrams are kept. Raises ``OSError`` as the journal does.
        """
        broker, driver, journal = self._broker, self._driver, self._journal
        if journal is not None:
            journal.begin(make_start(self._process, self._zero_ns, broker.address))
        if self._traces is not None:
            self._traces.begin(make_start(self._process, self._zero_ns, broker.address))
        on_ready(broker.address)
        driver.run(until)
        end = time.monotonic_ns()
        held = broker.held_keys(end)  # before the farewell, in which the structured arm hands all of it on
        if not driver.lifeline_closed and until == NEVER:
            _leave(broker, driver)
        if journal is not None:
            self._report(time.monotonic_ns())
            journal.write(make_holdings(self._process, (end - self._zero_ns) // 1000, held))
            journal.close()
        if self._traces is not None:
            self._traces.write(make_traces(self._process, broker.traces(), self._zero_ns))
            self._traces.close()
        if self._recorder is not None:
            self._recorder.close()
        self._sock.close()
        return 0

    def _report(self, now: int) -> None:
        """Each second: set the clock, and write down what has happened and what this process looks like."""
        broker, journal = self._broker, self._journal
        broker.set_wall_clock(wall_offset_ns())
        events = broker.events()
        if self._traces is not None:
            self._traces.write(make_traces(self._process, broker.traces(), self._zero_ns))
        if journal is None:
            return
        at_us = (now - self._zero_ns) // 1000
        for event in events:
            journal.write(Event(self._process, at_us, type(event).__name__, event.detail()))
        for trace in make_traces(self._process, broker.traces(), self._zero_ns):
            journal.write(trace)
        counters = broker.statistics(now) | self._driver.counters | {"kernel_drops": kernel_drops(self._sock)}
        journal.write(make_tick(self._process, at_us, counters))
        journal.flush()
        if self._recorder is not None:
            self._recorder.flush()


def run_broker(process: BrokerProcess, on_ready: Callable[[Address], None], until: int = NEVER) -> int:
    """``process.run`` in this process, which SIGTERM and SIGINT stop."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: process.stop())
    return process.run(on_ready, until)


def _leave(broker: Broker, driver: NodeDriver) -> None:
    """Say farewell to every neighbour as often as the protocol wants, then be done."""
    has_neighbours = bool(broker.neighbours)
    now = time.monotonic_ns()
    broker.leave(now)
    if has_neighbours:
        driver.is_stopping = False  # a second SIGTERM cuts the farewell short
        driver.run(until=now + FAREWELLS * FAREWELL_GAP)
