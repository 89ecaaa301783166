"""Group definers on a log in memory: contexts become groups, instances share the work, errors change nothing."""

from __future__ import annotations

import msgpack
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.chance import Chances
from overlay.log.spec import LogSpec
from overlay.log.topics import Append
from overlay.systems.contextnet.gateway.groups import Groups
from overlay.systems.contextnet.groups.definer import GroupDefiner
from overlay.systems.contextnet.groups.selection import ByField
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records import names as n
from overlay.systems.contextnet.records.records import ContextReport
from tests.log.reader import MemoryLog, Reader, reads
from tests.thorough import examples

NODES = [bytes([number]) * 16 for number in range(5)]


class Halves:
    """Groups of what a node has been, which needs ``before``; it fails at 13."""

    def groups(self, node, context, before):
        value = context["value"]
        return {f"once-{value}"} | (set(before) if 1 // (value - 13) < 2 else set())


class Gateway(Reader):
    """Reads what definers tell, and writes contexts."""

    def settle(self):
        for record in self.kept:
            self.progress.settle(record.topic, record.partition, record.position)
        self.kept = []

    def report(self, report):
        self._appends.append(Append(n.CONTEXT_REPORT, report.node, codec.write(report)))


class Lab:
    def __init__(self):
        self.log = MemoryLog(LogSpec(n.topics((), (), 3, 1)))
        self.writer = self.log.start("writer", Gateway(reads(n.GROUPS, "writer"), reads(n.REJECTED, "writer")))
        self.definers = {}

    def start(self, name, definer="", selection=None):
        found = GroupDefiner(name, ("127.0.0.1", 9), Chances.streams(1), 0, definer, selection)
        self.definers[name] = found
        return self.log.start(name, found)

    def context(self, node, data):
        packed = data if isinstance(data, bytes) else msgpack.packb(data)
        self.writer.report(ContextReport(node, 1, packed, 5))

    def settle(self):
        """Until nothing is under way."""
        for _ in range(20):
            self.log.turn()
            for definer in self.definers.values():
                definer.check_invariants()

    def groups(self):
        """As a gateway has them."""
        found = Groups()
        for record in self.writer.seen:
            if record.topic == n.GROUPS:
                found.learn(codec.read(record.topic, record.value))
        found.check_invariants()
        return found

    def of(self, node):
        return {f"{definer}/{name}" for definer, name in self.groups().of(node)}


def test_each_definer_makes_groups_of_its_own_field():
    lab = Lab()
    lab.start("definer-0")
    lab.start("definer-1")
    lab.context(NODES[0], {"f0": 1, "f1": "a"})
    lab.context(NODES[1], {"f0": 1})
    lab.settle()
    assert lab.of(NODES[0]) == {"definer-0/1", "definer-1/a"}
    assert lab.of(NODES[1]) == {"definer-0/1"}
    lab.context(NODES[0], {"f0": 2, "f1": "a"})
    lab.settle()
    assert lab.of(NODES[0]) == {"definer-0/2", "definer-1/a"}
    assert lab.groups().nodes("1") == {NODES[1]}


def test_a_node_that_leaves_all_groups_is_told_as_such():
    lab = Lab()
    lab.start("definer-0")
    lab.context(NODES[0], {"f0": 1})
    lab.settle()
    lab.context(NODES[0], {})
    lab.settle()
    assert lab.of(NODES[0]) == set()
    newest = codec.read(n.GROUPS, [one for one in lab.writer.seen if one.topic == n.GROUPS][-1].value)
    assert (newest.node, newest.groups) == (NODES[0], ())


def test_contexts_that_change_no_group_are_settled_without_a_record():
    lab = Lab()
    definer = lab.start("definer-0")
    for _ in range(5):
        lab.context(NODES[0], {"f0": 1})
    lab.settle()
    assert len(lab.writer.seen) == 1
    assert definer.progress.unsettled() == 0


def test_an_error_of_the_logic_keeps_the_groups_and_goes_on():
    lab = Lab()
    definer = lab.start("definer-0", selection=Halves())
    for value in (1, 13, 2):
        lab.context(NODES[0], {"value": value})
    lab.context(NODES[0], {})
    lab.settle()
    assert lab.of(NODES[0]) == {"definer-0/once-1", "definer-0/once-2"}
    assert definer.statistics(0)["selection_failed"] == 2
    assert definer.progress.unsettled() == 0


def test_a_context_that_is_no_map_is_rejected():
    lab = Lab()
    definer = lab.start("definer-0")
    for data in (b"\xc1", b"\x01", b"\x81"):
        lab.context(NODES[0], data)
    lab.settle()
    rejected = [codec.read(one.topic, one.value) for one in lab.writer.seen]
    assert {(one.topic, one.reader) for one in rejected} == {(n.CONTEXT_REPORT, "definer-0")}
    assert len(rejected) == 3
    assert definer.progress.unsettled() == 0


def test_of_too_many_groups_the_first_are_kept_and_names_that_are_none_fail():
    class Many:
        def groups(self, node, context, before):
            return {f"{number:03}" for number in range(100)} if context.get("many") else {"", "x"}

    lab = Lab()
    definer = lab.start("definer-0", selection=Many())
    lab.context(NODES[0], {"many": True})
    lab.context(NODES[1], {})
    lab.settle()
    assert definer.groups_of(NODES[0]) == {f"{number:03}" for number in range(64)}
    assert lab.of(NODES[1]) == set()
    assert (definer.statistics(0)["groups_cut"], definer.statistics(0)["selection_failed"]) == (1, 1)


def test_an_instance_that_takes_over_knows_the_groups_before():
    lab = Lab()
    lab.start("definer-0", "places", Halves())
    for value, node in enumerate(NODES):
        lab.context(node, {"value": value})
    lab.settle()
    lab.log.kill("definer-0")
    lab.definers.pop("definer-0")
    lab.start("definer-1", "places", Halves())
    for value, node in enumerate(NODES):
        lab.context(node, {"value": 20 + value})
    lab.settle()
    for value, node in enumerate(NODES):
        assert lab.of(node) == {f"places/once-{value}", f"places/once-{20 + value}"}


STEPS = st.lists(
    st.tuples(st.just("context"), st.integers(0, 4), st.integers(0, 3))
    | st.tuples(st.sampled_from(["start", "kill"]), st.integers(0, 2), st.just(0))
    | st.tuples(st.just("turn"), st.just(0), st.just(0)),
    max_size=40,
)


@given(STEPS)
@settings(max_examples=examples(60))
def test_whichever_instances_come_and_go_each_node_ends_in_the_group_of_its_last_context(steps):
    lab, last = Lab(), {}
    for what, number, value in steps:
        name = f"definer-{number}"
        if what == "context":
            last[NODES[number]] = value
            lab.context(NODES[number], {"f": value})
        elif what == "start" and name not in lab.definers:
            lab.start(name, "places", ByField("f"))
        elif what == "kill" and name in lab.definers:
            lab.log.kill(name)
            del lab.definers[name]
        else:
            lab.log.turn()
    lab.start("definer-9", "places", ByField("f"))
    lab.log.until(lambda: all(lab.of(node) == {f"places/{value}"} for node, value in last.items()))
    lab.settle()
    assert all(lab.of(node) == {f"places/{value}"} for node, value in last.items())
    assert all(definer.progress.unsettled() == 0 for definer in lab.definers.values())
