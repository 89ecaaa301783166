"""Processor time of a broker per message, measured one kind of message at a time with the kernel's counters.

These measurements use one or two brokers, and send messages as fast as they are answered. The model is later validated
with other configurations. The constant load of a broker, such as its report each second, is measured and subtracted.

::

    a few messages of each kind, over and over ──> broker     processor before and after ──> µs a message, turn by turn
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from itertools import count
from typing import Any

from overlay.core.addresses import format_address
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.extensions import QuietRequest
from overlay.systems.context_broker.wire.messages import (
    BrokerJoining,
    ContextRequest,
    ContextUpdateAdvertisement,
    Key,
    Ping,
)
from overlay.systems.context_broker.workload import make_payload
from telemetry.calibration.live import Standing, standing
from telemetry.errors import TelemetryError

TURNS = 3
PORTIONS = 8
"""Of a turn, in each of which all kinds have their share: whether a processor sleeps deeply or spins changes within
seconds and makes messages two or three times as dear, and costs are told apart by differences."""
MESSAGES = 50
"""Of one kind in one portion; some ten milliseconds, most of it spent on sleeping and waking."""
WARMING = 5
"""Messages before those."""
HALTED = 32
"""Sent to a broker that is halted, and received by it as one batch."""
SMALL, USUAL, LARGE = 100, 1024, 8192
"""Payloads in bytes."""
USUAL_ONES = "usual"
"""Brokers with default settings."""
ENTRIES = (0, 1000)
"""Other entries that a linear table scans."""
RESTS_S = (0.003, 0.03)
"""For which a broker sleeps before each message, where it is asked how much more it costs with cold caches."""
RESTED = 8
"""Messages of such a portion."""
BESIDE = 10
"""Brokers that share their pages while the memory of one is looked at, which PSS depends on."""
PATIENCE_S = 2.0
DAY_S = 86_400
VALID_MS = 600_000

UPKEEP_S = 2.0
"""For so long a broker is left alone, to see what it does anyhow."""
_RESTED = ", rested "

Turns = dict[str, list[float]]
"""Microseconds of processor a message, each time it was measured, by what was done."""
Act = Callable[[], object]
"""Send one message and wait for what it leads to."""
Measure = Callable[[], float]
"""Microseconds of processor a message, of one portion."""


def _unix_ms() -> int:
    return time.time_ns() // 1_000_000


_stamps = count(_unix_ms() - 86_400_000)
"""Each message has one of its own. They run faster than a clock, and brokers refuse what is from the future."""


class Prober:
    """A client that sends one datagram and waits for its answers."""

    def __init__(self) -> None:
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.bind(("127.0.0.1", 0))
        self.sock.settimeout(PATIENCE_S)

    def exchange(self, broker: Standing, data: bytes, answers: int) -> bytes:
        """The last of so many answers. Raises ``TelemetryError`` where one does not come."""
        self.sock.sendto(data, broker.address)
        return self.await_answers(broker, data, answers)

    def await_answers(self, broker: Standing, data: bytes, answers: int) -> bytes:
        answer = b""
        for _ in range(answers):
            try:
                answer = self.sock.recv(65_535)
            except TimeoutError:
                sent = data[:40].decode(errors="replace")
                raise TelemetryError(f"The broker {format_address(broker.address)} left {sent!r} unanswered.") from None
        return answer


def probe(client: SupervisorClient) -> Turns:
    """Every kind of message, ``TURNS`` times. Raises ``TelemetryError``."""
    costs: Turns = {}
    for name, settings in ((USUAL_ONES, {}), ("traced", {"trace_one_in": 1})):
        # What is passed on to who stays silent is not to be answered while something else is measured.
        settings = {"replication_index": 0, "pending_deadline_ms": 600_000, **settings}
        with _standing(client, f"calibrate-{name}", 4, settings) as brokers:
            broker, beside_silent, beside_holder, holder = brokers
            with _prober() as prober, _prober() as silent:
                _store(prober, broker)
                _store(prober, holder)
                _introduce(silent, beside_silent)
                order = encode(BrokerJoining(next(_stamps), (holder.address,)))
                prober.exchange(beside_holder, order, 2)
                kinds = {
                    "request": (broker, _request(prober, broker, 3)),
                    "quiet": (broker, _quiet(prober, broker, "usual")),
                    "passed on": (beside_silent, _request(prober, beside_silent, 1)),
                    "passed on and back": (beside_holder, _request(prober, beside_holder, 3)),
                }
                if name == USUAL_ONES:
                    kinds |= _other_kinds(prober, broker)
                measures = {f"{name}: {kind}": partial(_cost_us, *each) for kind, each in kinds.items()}
                if name == USUAL_ONES:
                    measures[f"{name}: ping, halted"] = partial(_halted_us, broker)
                _take_turns(costs, measures, partial(_empty, silent))
    filled = [(what, entries) for what in ("scanned", "matched") for entries in ENTRIES]
    with _standing(client, "calibrate-linear", len(filled), {"table": "linear"}) as brokers, _prober() as prober:
        measures = {}
        for (what, entries), broker in zip(filled, brokers, strict=True):
            _fill(prober, broker, range(entries), is_same=what == "matched")
            quiet = _quiet(prober, broker, "usual")
            measures[f"{what} {entries}"] = partial(_cost_us, broker, quiet)
            for rest_s in RESTS_S:
                measures[rested(what, entries, rest_s)] = partial(_cost_us, broker, quiet, RESTED, rest_s)
        _take_turns(costs, measures)
    return costs


def _take_turns(costs: Turns, measures: Mapping[str, Measure], after_each: Callable[[], object] = int) -> None:
    """Note what every kind cost in each of ``TURNS``."""
    for _ in range(TURNS):
        spent = dict.fromkeys(measures, 0.0)
        for _ in range(PORTIONS):
            for kind, measure in measures.items():
                spent[kind] += measure()
                after_each()
        for kind, us in spent.items():
            costs.setdefault(kind, []).append(us / PORTIONS)


def rested(what: str, entries: int, rest_s: float) -> str:
    """The name of a cost that was measured with sleep before each message."""
    return f"{what} {entries}{_RESTED}{1000 * rest_s:g} ms"


def is_rested(name: str) -> bool:
    """Whether that is the name of such a cost."""
    return _RESTED in name


def memory(client: SupervisorClient) -> Turns:
    """Bytes, not microseconds: of a broker that is idle, and what an entry and a remembered request add."""
    entries, waiting = 2000, 1000
    settings = {"table_entries": 10_000, "pending_deadline_ms": 60_000}
    with _standing(client, "calibrate-memory", BESIDE, settings) as brokers, _prober() as prober, _prober() as silent:
        broker = brokers[0]
        idle = broker.memory()
        _fill(prober, broker, range(entries), is_same=False)
        full = broker.memory()
        stored = len(_update("f0", "f0", USUAL)) - 2  # A|  and U| are no part of the Response that is kept
        _introduce(silent, broker)
        for _ in range(waiting):
            prober.exchange(broker, encode(ContextRequest(next(_stamps), *_key("nowhere"))), 1)
        held = broker.memory()
    return {
        "idle_rss": [float(idle[0])],
        "idle_pss": [float(idle[1])],
        "idle_uss": [float(idle[2])],
        "per_entry": [(full[2] - idle[2]) / entries - stored],
        "per_pending": [(held[2] - full[2]) / waiting],
    }


def _standing(
    client: SupervisorClient, id: str, count: int, settings: Mapping[str, Any]
) -> AbstractContextManager[list[Standing]]:
    """Brokers of a run whose only client asks once a day."""
    workload = {"providers": 0, "consumers": 1, "request_interval_s": DAY_S, "duration_s": DAY_S}
    return standing(client, id, count, {"monitoring": False, **settings}, workload)


# ---- what is sent


def _request(prober: Prober, broker: Standing, answers: int) -> Act:
    return lambda: prober.exchange(broker, encode(ContextRequest(next(_stamps), *_key("usual"))), answers)


def _quiet(prober: Prober, broker: Standing, entity: str) -> Act:
    return lambda: prober.exchange(broker, encode(QuietRequest(next(_stamps), *_key(entity))), 1)


def _other_kinds(prober: Prober, broker: Standing) -> dict[str, tuple[Standing, Act]]:
    """What else one broker does, and what size costs."""
    return {
        "update": (broker, lambda: prober.exchange(broker, _update("p", "usual", USUAL), 2)),
        "ping": (broker, lambda: prober.exchange(broker, encode(Ping(next(_stamps))), 1)),
        "quiet, small": (broker, _quiet(prober, broker, "small")),
        "quiet, large": (broker, _quiet(prober, broker, "large")),
    }


def _key(entity: str) -> Key:
    return "room", entity, "climate"


def _update(provider: str, entity: str, payload: int) -> bytes:
    stamp, now = next(_stamps), _unix_ms()
    text = make_payload(payload).encode()
    return encode(ContextUpdateAdvertisement(stamp, "U", provider, *_key(entity), now - 1000, now + VALID_MS, text))


def _store(prober: Prober, broker: Standing) -> None:
    for entity, payload in (("usual", USUAL), ("small", SMALL), ("large", LARGE)):
        prober.exchange(broker, _update("p", entity, payload), 2)


def _fill(prober: Prober, broker: Standing, numbers: range, *, is_same: bool) -> None:
    """Entries other than the requested one: of its own providers, or of as many other entities."""
    prober.exchange(broker, _update("p", "usual", USUAL), 2)
    for i in numbers:
        prober.exchange(broker, _update(f"f{i}", "usual" if is_same else f"f{i}", USUAL), 2)


def _introduce(neighbour: Prober, broker: Standing) -> None:
    """Make ``neighbour`` one of the broker's."""
    neighbour.exchange(broker, encode(BrokerJoining(next(_stamps), (broker.address,), passed_on=True)), 1)


def _empty(silent: Prober) -> None:
    """Drop what it was sent."""
    silent.sock.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            silent.sock.recv(65_535)
    silent.sock.settimeout(PATIENCE_S)


@contextmanager
def _prober() -> Iterator[Prober]:
    prober = Prober()
    try:
        yield prober
    finally:
        prober.sock.close()


# ---- what it costs


def _cost_us(broker: Standing, act: Act, messages: int = MESSAGES, rest_s: float = 0.0) -> float:
    """Processor of one, less what the broker would have done without it."""
    for _ in range(WARMING):
        act()
    before, began = broker.processor_ns(), time.monotonic()
    for _ in range(messages):
        if rest_s:
            time.sleep(rest_s)
        act()
    took, spent = time.monotonic() - began, broker.processor_ns() - before
    return (spent / 1000 - took * _upkeep_us(broker)) / messages


@cache
def _upkeep_us(broker: Standing) -> float:
    """Processor a second of a broker that is left alone."""
    before, began = broker.processor_ns(), time.monotonic()
    time.sleep(UPKEEP_S)
    return (broker.processor_ns() - before) / 1000 / (time.monotonic() - began)


def _halted_us(broker: Standing) -> float:
    """Processor time per ping when several are received together."""
    with _prober() as prober:
        before = broker.processor_ns()
        with broker.halted():
            for _ in range(HALTED):
                prober.sock.sendto(encode(Ping(next(_stamps))), broker.address)
        prober.await_answers(broker, b"1|", HALTED)
        return (broker.processor_ns() - before) / 1000 / HALTED
