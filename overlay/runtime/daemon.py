"""One broker as a process: real UDP, a journal, and a proper farewell.

Counterparts: ``overlay.runtime.udp`` drives it; the supervisor calls ``run_broker`` in a forked child, ``python -m
overlay broker`` in its own process. A broker's memory is measured, so nothing is imported here that it does not need.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from overlay.addresses import Address
from overlay.broker.broker import Broker
from overlay.broker.config import BrokerConfig
from overlay.broker.joining import FAREWELL_GAP, FAREWELLS
from overlay.broker.reports import make_holdings, make_traces
from overlay.chance import derive_seed
from overlay.facts import Event
from overlay.links import LinkShape, Shaper
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.reporting import make_tick, open_journal
from overlay.runtime.udp import NodeDriver, bound_address, open_socket
from overlay.runtime.usage import kernel_drops


def run_broker(
    config: BrokerConfig,
    bind: Address,
    *,
    links: Mapping[Address, LinkShape] | None = None,
    seed: int,
    journal: Path | None = None,
    process: str = "broker",
    zero_ns: int = 0,
    on_ready: Callable[[Address], None],
    lifeline_fd: int | None = None,
    address: Address | None = None,
    until: int | None = None,
    record_mb: int = 0,
    life: int = 1,
) -> int:
    """Be a broker until SIGTERM (or SIGINT), the lifeline closes or, without a farewell, ``until`` (ns); exit code.

    ``bind`` may have port 0. ``address`` is what others know it by, where that is not what it is bound to. ``links``
    shapes what goes to these neighbours. With a ``journal`` there is one tick a second in it, in time since
    ``zero_ns``, and beside it the recording of this ``life`` with up to ``record_mb``. ``on_ready`` is called with the
    address once datagrams are kept. Raises ``CannotBind``, and ``OSError`` when the journal cannot be written.
    """
    sock = open_socket(bind)
    known_as = address or bound_address(sock)
    if journal is None and config.trace_one_in:  # nobody reads what would be traced
        config = replace(config, trace_one_in=0)
    walks_seed, offset = derive_seed(seed, "walks"), wall_offset_ns()
    chance = random.Random(walks_seed)
    recorder = None
    if journal and record_mb:
        # Only here: other brokers would carry it.
        from overlay.recorded import RecordedBroker, recorder_of
        from overlay.recording import recording_path

        recorder = recorder_of(
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
        broker: Broker = RecordedBroker(config, known_as, chance, offset, recorder=recorder, clock=time.monotonic_ns)
    else:
        broker = Broker(config, known_as, chance, offset)
    shapers = {
        neighbour: Shaper(shape, random.Random(derive_seed(seed, "link", *neighbour)))
        for neighbour, shape in (links or {}).items()
    }
    writer = open_journal(journal, process, zero_ns, known_as) if journal else None

    def on_second(now: int) -> None:
        broker.set_wall_clock(wall_offset_ns())
        events = broker.events()
        if writer is None:
            return
        at_us = (now - zero_ns) // 1000
        for event in events:
            writer.write(Event(process, at_us, type(event).__name__, event.detail()))
        for trace in make_traces(process, broker.traces(), zero_ns):
            writer.write(trace)
        counters = broker.statistics(now) | driver.counters | {"kernel_drops": kernel_drops(sock)}
        writer.write(make_tick(process, at_us, counters))
        writer.flush()
        if recorder is not None:
            recorder.flush()

    driver = NodeDriver(broker, sock, shapers=shapers, lifeline_fd=lifeline_fd, on_second=on_second)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: driver.stop())
    on_ready(known_as)
    driver.run(until)
    end = time.monotonic_ns()
    held = broker.held_keys(end)  # before the farewell, in which the structured arm hands all of it on
    if not driver.lifeline_closed and until is None:
        _leave(broker, driver)
    if writer is not None:
        on_second(time.monotonic_ns())
        writer.write(make_holdings(process, (end - zero_ns) // 1000, held))
        writer.close()
    if recorder is not None:
        recorder.close()
    sock.close()
    return 0


def _leave(broker: Broker, driver: NodeDriver) -> None:
    """Say farewell to every neighbour as often as the protocol wants, then be done."""
    has_neighbours = bool(broker.neighbours)
    now = time.monotonic_ns()
    broker.leave(now)
    if has_neighbours:
        driver.is_stopping = False  # a second SIGTERM cuts the farewell short
        driver.run(until=now + FAREWELLS * FAREWELL_GAP)
