"""When each fault of a plan begins and ends. All of them are over when the storm is; some that were killed stay so."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

from overlay.core.links import LINK_SETTINGS, Link, LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.faults import fault_documents
from overlay.faults.churn import CRASH, LEAVE, UP
from overlay.faults.faults import IMPAIRED, KILL, LOSSY, PARTITION, RESTART, SLOW, Course, Ends
from overlay.sim.network import LOCAL
from overlay.sim.world import server_address
from overlay.systems.context_broker.broker.membership import GIVEN
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.workload import Workload
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.swarm.plan import Plan
from tests.swarm.stranger import Stranger

STORM = 8 * SECOND
RETURNED = STORM - SECOND
"""All brokers are running again by then."""


class Storm:
    """Schedules the faults of ``plan`` on ``overlay`` from now on."""

    def __init__(self, overlay: Overlay, plan: Plan, random: Random) -> None:
        self._overlay = overlay
        self._plan = plan
        self._random = random
        self._begin = overlay.simulator.now
        self.end = self._begin + STORM
        self._untouched = random.sample(range(plan.graph.brokers), plan.graph.brokers)
        """Brokers that no fault of their own was drawn for, which none has twice."""
        self.leavers: set[int] = set()
        """Brokers that are ordered to leave."""
        self._sides: dict[str, Iterable[Iterable[int]]] = {}
        """Partitions that there are now."""
        self._shape_links()
        for fault, schedule in {
            "kill": self._kill,
            "churn": self._churn,
            "stop": self._stop,
            "clock": self._step_clocks,
            "partition": self._separate,
            "one way": self._separate_one_way,
            "swizzle": self._swizzle,
            "cut": self._cut,
            "leave": self._leave,
            "stranger": self._let_strangers_in,
            "document": self._follow_document,
        }.items():
            if fault in plan.faults:
                schedule()

    def _at(self, time: int, action: Callable[[], None]) -> None:
        self._overlay.at(time, action)

    def _span(self, end: int) -> tuple[int, int]:
        """When something begins and ends, between now and ``end``."""
        first, last = sorted(self._begin + self._random.randrange(end - MILLISECOND) for _ in range(2))
        return first, last + MILLISECOND

    def _some(self) -> list[int]:
        """Some of those that nothing has happened to."""
        count = self._random.randint(1, max(1, len(self._untouched) // 2))
        chosen, self._untouched = self._untouched[:count], self._untouched[count:]
        return chosen

    # ---- brokers

    def _kill(self) -> None:
        for victim in self._some():
            first, last = self._span(RETURNED)
            self._at(first, lambda victim=victim: self._overlay.kill(victim))
            if self._random.random() < 0.7:
                self._at(last, lambda victim=victim: self._overlay.restart(victim))

    def _churn(self) -> None:
        rows = []
        for broker in self._some():
            how = self._random.choice([LEAVE, CRASH])
            first, last = ((time - self._begin) / SECOND for time in self._span(RETURNED))
            rows += [f"{first:.3f} {broker} {how}", f"{last:.3f} {broker} {UP}"]
        self._overlay.add_churn(
            Workload(churn="file", churn_schedule="; ".join(rows), duration_s=STORM / SECOND, stagger_ms=0)
        )

    def _stop(self) -> None:
        for broker in self._some():
            first, last = self._span(RETURNED)
            self._at(first, lambda broker=broker: self._overlay.stop(broker))
            self._at(last, lambda broker=broker: self._overlay.resume(broker))

    def _step_clocks(self) -> None:
        for broker in self._some():
            by = self._random.choice([-86_400, -300, -5, 5, 300, 86_400]) * SECOND
            first, last = self._span(STORM)
            self._at(first, lambda broker=broker, by=by: self._overlay.step_clock(broker, by))
            self._at(last, lambda broker=broker: self._overlay.step_clock(broker, 0))

    def _leave(self) -> None:
        leaver = self._random.randrange(self._plan.graph.brokers)
        self.leavers.add(leaver)
        self._at(self._span(STORM)[0], lambda: self._overlay.ask(leaver, questions.leave()))

    def _let_strangers_in(self) -> None:
        stranger = Stranger(self._overlay, self._random)
        for _ in range(30):
            self._at(self._span(STORM)[0], stranger.speak)

    # ---- links

    def _shape_links(self) -> None:
        """Those of the graph, and all others that brokers may come to use."""
        config, graph, overlay = self._plan.config, self._plan.graph, self._overlay
        clean = {link.ends: link.shape() for link in graph.links}
        if config.arm == "structured" or config.membership != GIVEN or config.replica_refresh:
            clean = dict.fromkeys(combinations(range(graph.brokers), 2), LOCAL) | clean
        for ends, shape in clean.items():
            overlay.lay(*ends, self._plan.shape)
            self._at(self.end, lambda ends=ends, shape=shape: overlay.lay(*ends, shape))

    def _cut(self) -> None:
        if self._plan.graph.links:
            ends = self._random.choice(self._plan.graph.links).ends
            gone = replace(self._plan.shape, partition=True)
            self._at(self._span(STORM)[0], lambda: self._overlay.lay(*ends, gone))

    def _separate_one_way(self) -> None:
        """From one half nothing reaches the other, and all comes back."""
        half, others = self._halves()
        first, _ = self._span(STORM)
        gone = LinkShape(partition=True)
        network = self._overlay.simulator.network
        graph_links = {link.ends for link in self._plan.graph.links}
        for a in half:
            for b in others:
                if (min(a, b), max(a, b)) in graph_links:
                    ways = server_address(a), server_address(b)
                    self._at(first, lambda ways=ways: network.lay_one_way(*ways, gone))

    def _separate(self) -> None:
        halves, (first, last) = self._halves(), self._span(STORM)
        self._at(first, lambda: self._divide("halves", halves))
        self._at(last, lambda: self._divide("halves"))

    def _swizzle(self) -> None:
        """Brokers are clogged one after the other and unclogged in another order (FoundationDB's swizzle-clog)."""
        brokers = range(self._plan.graph.brokers)
        for broker in self._random.sample(brokers, self._random.randint(1, len(brokers))):
            first, last = self._span(STORM)
            alone = [broker], [other for other in brokers if other != broker]
            self._at(first, lambda broker=broker, alone=alone: self._divide(f"broker {broker}", alone))
            self._at(last, lambda broker=broker: self._divide(f"broker {broker}"))

    # ---- documents, as an experiment has them

    def _follow_document(self) -> None:
        faults = fault_documents.read(
            list(self._documents()),
            self._plan.graph.brokers,
            (link.ends for link in self._plan.graph.links),
            STORM / SECOND,
        )
        self._course = Course((), faults, self._begin / SECOND)
        self._struck: dict[Ends, LinkShape] = {}
        self._expect_course()

    def _documents(self) -> Iterator[dict[str, Any]]:
        random, links = self._random, [list(link.ends) for link in self._plan.graph.links]
        for what in random.sample((KILL, RESTART, PARTITION, SLOW, LOSSY, IMPAIRED), random.randint(1, 4)):
            first, last = ((time - self._begin) / SECOND for time in self._span(RETURNED))
            when: dict[str, Any] = {"what": what, "at_s": first} | ({} if what == RESTART else {"until_s": last})
            if what in (KILL, RESTART):
                if brokers := self._some():
                    yield {**when, "brokers": brokers}
            elif what == PARTITION:
                half, others = self._halves()
                if half and others:
                    yield {**when, "islands": [half, others]}
            elif links:
                some = random.choice(["all", random.sample(links, random.randint(1, len(links)))])
                shape = {SLOW: {"delay_ms": random.uniform(0, 100)}, LOSSY: {"loss": random.uniform(0, 0.5)}}
                yield {**when, "links": some, **shape.get(what, self._impairment())}

    def _impairment(self) -> dict[str, Any]:
        random = self._random
        drawn = {
            "loss": random.uniform(0, 0.3),
            "loss_burst": random.uniform(1, 4),
            "duplication": random.uniform(0.1, 0.3),
            "reordering": random.uniform(0.1, 0.3),
            "rate_bytes_per_s": random.uniform(10_000, 100_000),
            "partition": random.random() < 0.2,
            **({} if self._plan.is_honest else {"corruption": 0.1}),
        }
        return {name: drawn[name] for name in random.sample(list(drawn), 3)} | {"duplication": drawn["duplication"]}

    def _expect_course(self) -> None:
        at_s = self._course.next_s()
        if at_s is not None:
            self._at(round(at_s * SECOND), lambda: self._follow_course(at_s))

    def _follow_course(self, at_s: float) -> None:
        """As ``overlay.sim.engine`` does."""
        due = self._course.due(at_s)
        for change in due.changes:
            self._overlay.follow(change)
        if due.links_changed:
            self._divide("document", next(iter(self._course.partitions()), None))
            for link in self._plan.graph.links:
                wanted = self._course.shape(self._as_shaped(link))
                if wanted != self._struck.get(link.ends, self._plan.shape):
                    self._struck[link.ends] = wanted
                    self._overlay.lay(*link.ends, wanted)
        self._expect_course()

    def _as_shaped(self, link: Link) -> Link:
        """While there is a storm."""
        return Link(*link.ends, *(getattr(self._plan.shape, info.name) for info in LINK_SETTINGS))

    def _halves(self) -> tuple[list[int], list[int]]:
        brokers = range(self._plan.graph.brokers)
        half = self._random.sample(brokers, len(brokers) // 2)
        return half, [broker for broker in brokers if broker not in half]

    def _divide(self, name: str, islands: Iterable[Iterable[int]] | None = None) -> None:
        """Begin a partition, or end the one of this name."""
        if islands is None:
            self._sides.pop(name, None)
        else:
            self._sides[name] = islands
        self._overlay.simulator.network.divide(
            [[server_address(i) for i in island] for island in islands] for islands in self._sides.values()
        )
