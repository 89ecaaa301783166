"""The service-time model of simulated runs: measured processor time and memory of servers and clients. Pure.

Counterparts: ``overlay.sim.served`` applies these times to simulated nodes; a system's ``Meter`` counts the work;
``telemetry.calibration`` measures live processes and writes the file that ``overlay.runtime.calibrated`` reads.

Each role of a system, such as a broker or a group of clients, has costs of its own, by the names of its messages. A
role without measured costs has the default ones, and the model names it.

There are two kinds of time, because they add up differently:

- *service*: a processor is busy, and other input waits. Service time is a sum over the messages received and sent, and
  over further work that the system counts, such as entries that a linear table compares. After a sleep the caches of a
  process are cold, so it takes longer: by a constant (``cold``), and by an extra amount for each unit of further work.
- *delivery*: no processor is busy. It lasts from the end of one process's service until another process has read the
  datagram, and is mostly the wake-up time of a processor, which grows with the length of its sleep. Other
  processes also keep the processor awake. All variation is here: deliveries are drawn from the measured distribution,
  so that medians and tails match it.

::

    a timer comes due ── timer(idle) ──> client serves ── to_server(idle) ──> server serves ── to_client(idle) ──> …
                                                             server serves ── between(idle) ──> server serves

No figure is fitted to the results of runs or to published values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from typing import Any, NamedTuple

from overlay.core.curves import MICROSECOND, Curve, Delays, check_numbers, constant
from overlay.core.errors import InvalidSetting


class Work(NamedTuple):
    """The work of a server or client in one service: counts since the driver's last query."""

    received: Sequence[str]
    """Names of the messages received."""
    sent: Sequence[str]
    moved_bytes: int
    """Bytes received and sent."""
    units: Mapping[str, int] = {}
    """Further work, by the names that the system declares: entries compared, receivers listed."""


@dataclass(frozen=True)
class Memory:
    """The memory of a process, bytes. It is a model, independent of the memory of the simulated object."""

    idle_rss: float
    idle_pss: float
    idle_uss: float
    kept: Mapping[str, float] = field(default_factory=dict)
    """Bytes of each thing that it keeps, by the name of the counter with their number: ``entries``."""

    def __post_init__(self) -> None:
        check_numbers("memory", (self.idle_rss, self.idle_pss, self.idle_uss))
        check_numbers("kept", self.kept.values())
        object.__setattr__(self, "kept", dict(sorted(self.kept.items())))

    def sizes(self, counters: Mapping[str, int]) -> tuple[int, int, int]:
        """RSS, PSS and USS of a process with these counters."""
        over = 0.0
        for name, each in self.kept.items():
            over += each * counters.get(name, 0)
        kept = round(over)
        return round(self.idle_rss) + kept, round(self.idle_pss) + kept, round(self.idle_uss) + kept


NEVER_COLD = constant(0.0)


@dataclass(frozen=True)
class Costs:
    """The costs of one role, in microseconds of one processor with warm caches."""

    batch_us: float
    """To wake up, receive all available datagrams and sleep again, independent of the datagrams."""
    other_us: float
    """To parse and handle a message that ``received_us`` does not name."""
    sent_us: float
    """To create and send a datagram."""
    kilobyte_us: float = 0.0
    """Per 1,000 bytes received or sent."""
    received_us: Mapping[str, float] = field(default_factory=dict)
    """To parse and handle a message, by name."""
    extra_us: Mapping[str, float] = field(default_factory=dict)
    """In addition to ``sent_us``, by name: forwarding a request takes choosing a neighbour."""
    work_us: Mapping[str, Curve] = field(default_factory=dict)
    """Per unit of further work, by name; higher after a sleep, when little is in a cache."""
    cold_us: Curve = NEVER_COLD
    """Additional service time after a sleep."""
    memory: Memory | None = None
    """``None`` if it is not modelled; memory is then 0."""
    sends_last: bool = False
    """Of clients: whether datagrams leave at the end of a service, as those of servers do. Otherwise they leave at its
    start, and ``Deliveries.to_server`` contains their sending."""

    def __post_init__(self) -> None:
        if not isinstance(self.sends_last, bool):
            raise InvalidSetting("sends_last", "must be true or false")
        for name in ("batch_us", "other_us", "sent_us", "kilobyte_us"):
            check_numbers(name, (getattr(self, name),))
        for name in ("received_us", "extra_us"):
            check_numbers(name, getattr(self, name).values())

    def cost_ns(self, work: Work, idle_ns: int) -> int:
        """Processor time of ``work`` after a sleep of ``idle_ns``; at least 1 ns."""
        received, extra, other = self.received_us, self.extra_us, self.other_us
        cost = self.batch_us + self.sent_us * len(work.sent) + self.kilobyte_us * work.moved_bytes / 1000
        for name in work.received:
            cost += received.get(name, other)
        for name in work.sent:
            if name in extra:
                cost += extra[name]
        if work.units:
            cost += self._units_us(work.units, idle_ns)
        return max(1, round((cost + self.cold_us.at(idle_ns)) * MICROSECOND))

    def _units_us(self, units: Mapping[str, int], idle_ns: int) -> float:
        us = 0.0
        for name, count in units.items():
            if name in self.work_us:
                us += self.work_us[name].at(idle_ns) * count
        return us


DEFAULT_SERVER = Costs(batch_us=15, other_us=25, sent_us=5, memory=Memory(21e6, 3.5e6, 2e6))
"""Costs of servers without measured ones: round numbers of a small Python server."""
DEFAULT_CLIENT = Costs(batch_us=0, other_us=40, sent_us=120)
"""The same for clients, whose memory is not modelled."""
NO_TIME = Costs(batch_us=0, other_us=0, sent_us=0, sends_last=True)
"""Costs of clients that must not limit a run, as if each had a machine of its own; ``cost_ns`` is 1 ns."""


@dataclass(frozen=True)
class Deliveries:
    """The delays of a machine, whatever system runs on it."""

    to_server: Delays
    """From the start of a client's work on a request to the server's reading it, the sending included."""
    between: Delays
    """From one server to another; also from clients to servers where all clients send last (``Costs.sends_last``)."""
    to_client: Delays
    timer: Delays
    """The delay of a process behind its schedule, after a sleep."""


@dataclass(frozen=True)
class ServiceModel:
    """The measurements of one machine that simulated runs of one system use."""

    roles: Mapping[str, Costs]
    """By the role of a server or client: the name of its process without the number."""
    deliveries: Deliveries
    unmeasured: tuple[str, ...] = ()
    """The roles and units of work (``UNIT of ROLE``) of the system that have no measured costs."""
    measured: Mapping[str, Any] = field(default_factory=dict)
    """Provenance: ``name``, ``date``, ``machine``, ``code``, ``n`` and the precision; empty if nothing was measured."""

    def server(self, role: str) -> Costs:
        return self.roles.get(role, DEFAULT_SERVER)

    def client(self, role: str) -> Costs:
        return self.roles.get(role, DEFAULT_CLIENT)

    def deliveries_from(self, clients: Collection[str]) -> Deliveries:
        """Where the clients of a system have these roles."""
        found = self.deliveries
        is_last = all(self.client(role).sends_last for role in clients)
        return replace(found, to_server=found.between) if is_last else found

    def with_idle(self, clients: Collection[str]) -> ServiceModel:
        """The same, where clients of these roles take no time; ``DEFAULT_CLIENT`` or measured costs are not used."""
        missing = tuple(one for one in self.unmeasured if one.rpartition(" of ")[2] not in clients)
        return replace(self, roles={**self.roles, **dict.fromkeys(clients, NO_TIME)}, unmeasured=missing)

    def to_json(self) -> dict[str, Any]:
        """What determines service times, and where it is from, for the manifest of a run."""
        document: dict[str, Any] = to_lists(asdict(self))
        return document


def read_costs(value: Any) -> Costs:
    """Costs from JSON. Raises ``InvalidSetting`` with the name of the first field that is invalid or unknown."""
    given = dict(_object("costs", value))
    if "work_us" in given:
        given["work_us"] = {name: _part(name, Curve, one) for name, one in _object("work_us", given["work_us"]).items()}
    for name in ("received_us", "extra_us"):
        _object(name, given.get(name, {}))
    if "cold_us" in given:
        given["cold_us"] = _part("cold_us", Curve, given["cold_us"])
    if given.get("memory") is not None:
        given["memory"] = _part("memory", Memory, given["memory"])
    costs: Costs = _made("costs", Costs, given)
    return costs


def read_deliveries(value: Any) -> Deliveries:
    """Raises ``InvalidSetting``."""
    given = _object("deliveries", value)
    found: Deliveries = _made("deliveries", Deliveries, {name: _part(name, Delays, one) for name, one in given.items()})
    return found


def unmeasured(roles: Mapping[str, Costs], needed: Collection[str], units: Mapping[str, Sequence[str]]) -> list[str]:
    """The roles without costs, and the units of work, by role, without a cost in a role that has others."""
    missing = [role for role in needed if role not in roles]
    for role in needed:
        if role in roles:
            missing += [f"{unit} of {role}" for unit in units.get(role, ()) if unit not in roles[role].work_us]
    return missing


def missing_costs(unmeasured: Collection[str]) -> str:
    """The sentence for figures that depend on costs that were not measured; empty if they do not."""
    if not unmeasured:
        return ""
    units = [one for one in unmeasured if " of " in one]
    roles = [one for one in unmeasured if one not in units]
    said = [f"No measured service times for {', '.join(roles)}: default costs are used."] if roles else []
    said += [f"No measured cost of {', '.join(units)}: it counts as no time."] if units else []
    return " ".join(said)


def to_lists(value: Any) -> Any:
    """With lists instead of tuples, as JSON has them."""
    if isinstance(value, Mapping):
        return {name: to_lists(item) for name, item in value.items()}
    return [to_lists(item) for item in value] if isinstance(value, tuple | list) else value


def _object(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidSetting(name, "must be an object")
    return value


def _part(name: str, kind: type, value: Any) -> Any:
    try:
        return _made(name, kind, {key: _tuples(item) for key, item in _object(name, value).items()})
    except InvalidSetting as error:
        raise InvalidSetting(error.field if error.field == name else f"{name}.{error.field}", error.sentence) from None


def _made(name: str, kind: Any, values: Mapping[str, Any]) -> Any:
    required = {one.name: one.default is MISSING and one.default_factory is MISSING for one in fields(kind)}
    for one in values:
        if one not in required:
            raise InvalidSetting(str(one)[:60], "is unknown")
    for one, is_required in required.items():
        if is_required and one not in values:
            raise InvalidSetting(one, "is missing")
    try:
        return kind(**values)
    except (TypeError, AttributeError):
        raise InvalidSetting(name, f"must be made of the numbers of {kind.__name__}") from None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
