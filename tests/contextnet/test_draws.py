"""What nodes of a workload do when: drawn from the seed."""

from __future__ import annotations

import re
from itertools import islice, pairwise

import msgpack
import pytest

from overlay.core.errors import InvalidSetting
from overlay.core.node import SECOND
from overlay.systems.contextnet.load.draws import Draws, context
from overlay.systems.contextnet.workload import Workload


def workload(**fields):
    return Workload(**{"nodes": 1_000, "rate_per_min": 4, "messages": 100, **fields})


def test_messages_are_due_one_interval_apart_from_a_phase_of_each_node_and_direction():
    draws = Draws(workload(), 1)
    due = list(draws.due("inbound", 7))
    assert len(due) == 100 and 0 <= due[0] < 15 * SECOND
    assert {later - earlier for earlier, later in pairwise(due)} == {15 * SECOND}
    assert due[0] not in (next(draws.due("outbound", 7)), next(draws.due("inbound", 8)))
    assert due == list(Draws(workload(), 1).due("inbound", 7))


@pytest.mark.parametrize("law", ["fixed", "exponential", "weibull"])
def test_disconnecting_nodes_are_off_for_their_share_of_the_time(law):
    load = workload(disconnecting_share=0.3, on_law=law)
    draws, length = Draws(load, 2), load.measured_s * SECOND
    assert len(draws.disconnecting) == 300
    outages = [list(draws.outages(node)) for node in draws.disconnecting]
    off = sum(min(on, length) - off for several in outages for off, on in several)
    assert off / (300 * length) == pytest.approx(30 / 203, rel=0.08)
    for several in outages:
        assert all(0 <= off < length for off, _ in several), "none begins after the end"
        assert all(on <= later for (_, on), (later, _) in pairwise(several))
    assert list(draws.outages(min(set(range(1_000)) - draws.disconnecting))) == []


def test_contexts_have_a_field_for_each_definer_and_their_size():
    draws = Draws(workload(definers=2, groups=4, context_change_per_min=6), 3)
    values = list(islice(draws.values(5), 50))
    assert all(len(one) == 2 and max(one) < 4 for one in values)
    found = msgpack.unpackb(context(values[0], 64))
    assert [found["f0"], found["f1"]] == values[0]
    assert len(context(values[0], 64)) == 64
    changes = list(draws.changes(5))
    assert len(changes) == pytest.approx(6 * 25, abs=40)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"duration_s": 10.0}, "duration_s: 10 s is shorter than the 15 s between two messages"),
        ({"rate_per_min": 0.01, "messages": 200}, "messages: 200 messages take 1,200,000 s; a run has at most 604,800"),
        ({"gateways": 3, "nodes": 2}, "gateways: 3 are more than the 2 nodes"),
        ({"app_pause_s": 1.0}, "app_pause_every_s: is needed, too"),
        ({"gateway_capacity": "10,20"}, "gateway_capacity: has 2 numbers for 1 gateways"),
        ({"gateway_capacity": "10,x"}, "gateway_capacity: line 1, column 4: must be none, or numbers"),
        ({"load_noise": 0.1}, "load_noise: needs gateway_capacity"),
        ({"link_jitter_ms": 3.0}, "link_jitter_ms: 3 ms is more than the delay"),
        ({"groupcast_per_min": 1.0}, "groupcast_per_min: needs definers"),
    ],
)
def test_fields_that_do_not_fit_each_other_are_refused(fields, sentence):
    with pytest.raises(InvalidSetting, match=re.escape(sentence)):
        workload(**fields)


def test_a_duration_gives_the_number_of_messages():
    assert workload(rate_per_min=24, duration_s=60.0).count == 24
    assert workload().measured_s == 1_500
