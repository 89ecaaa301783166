"""The PoA manager: a server that reads what gateways report, and tells them how to ping, which nodes are to move, and
which gateways there are.

All managers read all reports, each in a group of its own, so that one that takes over knows them already. The one that
owns the partition of ``handover`` in the common group acts; it reads there who was told to move.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import SECOND
from overlay.log.node import Assignment, Start, Subscription
from overlay.log.topics import Record
from overlay.systems.contextnet.log_server import LogServer
from overlay.systems.contextnet.poa.balancer import Balancer, Plan
from overlay.systems.contextnet.poa.events import Acting, GatewayActive, GatewayLapsed, MovesOrdered, Round, StandingBy
from overlay.systems.contextnet.poa.gateways import MOST_REPORTS, Gateway, Gateways
from overlay.systems.contextnet.poa.lists import Lists
from overlay.systems.contextnet.poa.pings import Pings
from overlay.systems.contextnet.poa.ranks import RANKS, Rank
from overlay.systems.contextnet.poa.reports import Reports
from overlay.systems.contextnet.poa.seats import Seats
from overlay.systems.contextnet.poa.settings import PoaSettings
from overlay.systems.contextnet.poa.statistics import Statistics
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.names import (
    CONNECTION_REPORT,
    GATEWAY_LIST,
    HANDOVER,
    HELLO_POA,
    LOAD_REPORT,
    PING_CONFIG,
)
from overlay.systems.contextnet.records.records import ALL, HandOver, PingConfig, Ranked

GROUP: Final = "poa"
"""Its member that owns the partition of ``handover`` acts."""
MOST_TARGETS: Final = 3
"""In an order to move: the first is meant, the others are for when it fails."""
PATIENCE_ROUNDS: Final = 2
"""After them, a node that was told to move and still shows at its old gateway counts there."""
MOST_TRACES: Final = 16


class PoaManager(LogServer):
    def __init__(
        self,
        name: str,
        address: Address,
        settings: PoaSettings,
        load_report_s: int,
        chances: Chances,
        wall_offset_ns: int,
        rank: Rank | None = None,
    ) -> None:
        """``rank``: in place of the one that the settings name."""
        super().__init__(name, address, chances, wall_offset_ns)
        self.settings = settings
        self._rank = RANKS[settings.rank] if rank is None else rank
        self._lasts_s = settings.missed_reports * load_report_s
        round_ns, ping_ns = settings.round_s * SECOND, settings.ping_period_s * SECOND
        is_smooth = settings.smoothing < 1
        self.gateways = Gateways(self._lasts_s * SECOND, MOST_REPORTS if is_smooth else 1)
        self.seats = Seats(PATIENCE_ROUNDS * round_ns, 2 * max(round_ns, ping_ns), settings.hold_s * SECOND)
        self.pongs: dict[str, Statistics] = {}
        """Of the last round of pings of each active gateway."""
        self._reports = Reports()
        self._balancer = Balancer(settings)
        self._lists = Lists(settings.list_s * SECOND)
        self._pings = Pings(settings)
        self._active: dict[str, Gateway] = {}
        self._takes: dict[str, bool] = {}
        """By name of these, whether it takes nodes."""
        self.is_acting = False
        self._round = 0
        self._rounds_acting = 0
        self._rounds: deque[Round] = deque(maxlen=MOST_TRACES)
        self._subscriptions = self._all_subscriptions()

    # ---- the log

    def subscriptions(self) -> tuple[Subscription, ...]:
        return self._subscriptions

    def _all_subscriptions(self) -> tuple[Subscription, ...]:
        settings, own = self.settings, self.name
        return (
            Subscription(HELLO_POA, own, Start.WHOLE),
            Subscription(LOAD_REPORT, own, Start.WHOLE, self._lasts_s),
            Subscription(CONNECTION_REPORT, own, Start.WHOLE, 2 * settings.ping_period_s),
            Subscription(GATEWAY_LIST, own, Start.WHOLE, settings.list_age_s),
            Subscription(PING_CONFIG, own, Start.WHOLE),
            Subscription(HANDOVER, GROUP, Start.WHOLE, max(1, settings.hold_s)),
        )

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        super().assigned(partitions, now)
        if not self.timers:
            self._begin()
        if not self.is_acting and any(found.group == GROUP for found in partitions):
            self.is_acting, self._rounds_acting = True, 0
            self.noted.append(Acting())
            self._tell_pings(ALL, self._pings.told(self._wall_s))
            self._tell_list()

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        super().revoked(partitions, now)
        if self.is_acting and any(found.group == GROUP for found in partitions):
            self.is_acting = False
            self.noted.append(StandingBy())

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        super().receive_records(records, now)
        self._look()

    def read(self, record: Record) -> None:
        found = codec.read(record.topic, record.value)
        seen = self._seen(record)
        if record.topic == HELLO_POA:
            if self.gateways.hello(found, seen) and self.is_acting:
                self._tell_pings(found.gateway, self._pings.config)
        elif record.topic == LOAD_REPORT:
            self.gateways.load(found, seen)
        elif record.topic == CONNECTION_REPORT:
            self._read_report(found)
        elif record.topic == GATEWAY_LIST:
            self._lists.heard(found, seen)
            self._await_list()
        elif record.topic == PING_CONFIG:
            self._pings.heard(found)
        else:
            self._round = max(self._round, found.round)
            self.seats.hold(found.node, seen)
        self.settle(record)

    @property
    def _wall_s(self) -> int:
        """Unix seconds, the least number of a version: higher than any by a manager before, also if the log has
        forgotten it."""
        return self.wall_us // 1_000_000

    def _seen(self, record: Record) -> int:
        """``now`` when it was appended."""
        return self.now - max(0, self.wall_us - record.appended_us) * 1_000

    def _read_report(self, part: Any) -> None:
        report = self._reports.add(part)
        if report is None or not self.gateways.is_active(report.gateway, self.now):
            return
        self.seats.report(report, self.now)
        self.pongs[report.gateway] = report.statistics
        self._pings.report(report)

    # ---- timers

    def _begin(self) -> None:
        self._set("round", self.settings.round_s)
        self._set("pings", self.settings.ping_period_s)
        self._set("list", self.settings.list_s)

    def _await_list(self) -> None:
        self.timers.set("list", max(self._lists.due, self.now + 1))

    def _set(self, key: str, seconds: int) -> None:
        self.timers.set(key, self.now + seconds * SECOND)

    def due(self, key: Any) -> None:
        if key == "round":
            self._set(key, self.settings.round_s)
            self._balance()
        elif key == "pings":
            self._set(key, self.settings.ping_period_s)
            config = self._pings.rescaled(self._active, self._wall_s) if self.is_acting else None
            if config is not None:
                self._tell_pings(ALL, config)
        elif key == "list":
            self._set(key, self.settings.list_s)
            self._tell_list()
        else:
            self._look()

    # ---- which gateways there are

    def _look(self) -> None:
        """Which gateways are active has perhaps changed."""
        former, self._active = self._active, self.gateways.active(self.now)
        for gateway in self._active.keys() - former.keys():
            self.noted.append(GatewayActive(gateway))
        for gateway in former.keys() - self._active.keys():
            self._forget(gateway)
        lapse = self.gateways.next_lapse(self._active)
        if lapse is not None:
            self.timers.set("lapse", lapse)
        takes = {name: bool(found.capacity) for name, found in self._active.items()}
        if takes != self._takes:
            self._takes = takes
            self._tell_list()

    def _forget(self, gateway: str) -> None:
        self.noted.append(GatewayLapsed(gateway))
        self.seats.forget(gateway)
        self._reports.forget(gateway)
        self.pongs.pop(gateway, None)

    def _tell_list(self) -> None:
        if not self.is_acting:
            return
        scores = self._balancer.scores
        fresh = self._ranked() if self._active.keys() - scores.keys() else scores
        ranked = []
        for name, found in self._active.items():
            score = scores.get(name, fresh.get(name, 0.0)) if found.capacity else 0.0
            ranked.append(Ranked(name, found.address, score / (found.connections + 1)))
        current = self._lists.next(ranked, self.now, self._wall_s)
        if current is not None:
            self.append(GATEWAY_LIST, ALL.encode(), codec.write(current))
            self._await_list()

    def _tell_pings(self, gateway: str, config: PingConfig) -> None:
        self.append(PING_CONFIG, gateway.encode(), codec.write(config))

    # ---- rounds

    def _balance(self) -> None:
        self._round += 1
        self.seats.tidy(self.now)
        self._balancer.score(self._ranked())
        self.gateways.begin_round()
        if not self.is_acting:
            return
        self._rounds_acting += 1
        self._tell_list()
        counts = self._counts()
        plan = self._plan(counts)
        is_new = self._rounds_acting <= self.settings.persistence
        moves = [] if plan is None or is_new else self._move(plan, counts)
        wanted, budget = ({}, 0) if plan is None else (plan.wanted, plan.budget)
        if moves:
            self.noted.append(MovesOrdered(len(moves)))
        given, taken = (Counter(move[end] for move in moves) for end in (0, 1))
        draining, scores = frozenset(self._draining()), dict(self._balancer.scores)
        self._rounds.append(Round(self.now, self._round, counts, wanted, scores, given, taken, budget, draining))

    def _draining(self) -> set[str]:
        return {name for name, found in self._active.items() if not found.capacity}

    def _ranked(self) -> Mapping[str, float]:
        """A score for each active gateway. If the rank fails, they keep theirs; one without has that of an average."""
        loads = {name: found.load for name, found in self._active.items()}
        try:
            scores = self._rank(self.pongs, loads)
            good = {name: float(scores[name]) for name in loads}
        except Exception:  # noqa: BLE001 (the rank may be that of another author)
            good = {}
        if all(isfinite(score) and score > 0 for score in good.values()) and good.keys() == loads.keys():
            return good
        self.counters["rank_failed"] += 1
        former = self._balancer.scores
        usual = sum(former.values()) / len(former) if former else 1.0
        return {name: former.get(name, usual) for name in loads}

    def _counts(self) -> dict[str, int]:
        found = self.seats.count()
        return {name: found.get(name, 0) for name in self._active}

    def _plan(self, counts: Mapping[str, int]) -> Plan | None:
        """``None``: it does not know yet where nodes are, or balances nothing."""
        draining = self._draining()
        giving = set(self._active) if self.settings.balancing else draining
        is_known = all(self.seats.has_reported(name) or not found.connections for name, found in self._active.items())
        if not giving or not is_known:
            return None
        movable = {name: sum(1 for _ in self.seats.movable(name, self.now)) if name in giving else 0 for name in counts}
        return self._balancer.plan(counts, movable, draining)

    def _move(self, plan: Plan, counts: Mapping[str, int]) -> list[tuple[str, str]]:
        """Returns the source and the target of each node that was told to move."""
        lack = {name: wanted - counts[name] for name, wanted in plan.wanted.items() if wanted > counts[name]}
        order = sorted(lack, key=lambda name: (-lack[name], name))
        moved: list[tuple[str, str]] = []
        for source, targets in plan.moves.items():
            reason = "load" if self._active[source].capacity else "drain"
            for node, target in zip(self.seats.worst(source, len(targets), self.now), targets, strict=True):
                others = [name for name in order if name != target][: MOST_TARGETS - 1]
                addresses = tuple(self._active[name].address for name in (target, *others))
                hand_over = HandOver(self._round, node, addresses, reason)
                self.append(HANDOVER, source.encode(), codec.write(hand_over))
                assert not self.seats.is_held(node, self.now), "a node is moved once in hold_s"
                self.seats.order(node, target, self.now)
                moved.append((source, target))
        return moved

    # ---- what is seen of it

    def gauges(self) -> dict[str, int]:
        return {
            "active_gateways": len(self._active),
            "nodes": len(self.seats.nodes),
            "nodes_ordered": self.seats.ordered,
            "ping_window_ms": self._pings.config.window_ms,
            "is_acting": int(self.is_acting),
            "incomplete_reports": self._reports.incomplete,
        }

    def traces(self) -> Sequence[Round]:
        """Rounds; of more than 16, the last."""
        found = list(self._rounds)
        self._rounds.clear()
        return found

    def check_invariants(self) -> None:
        """(I8, I9). Raises ``AssertionError``."""
        super().check_invariants()
        self.seats.check_invariants()
        self.gateways.check_invariants()
        for found in self.pongs.values():
            assert 0 <= found.ping_rate <= 1
        for one in self._rounds:
            assert one.moves <= one.budget, "moves stay within the budget"
            assert not one.wanted or sum(one.wanted.values()) == sum(one.counts.values()), "ideal numbers sum up"
