"""One thing changed in a configuration that has run."""

from __future__ import annotations

from typing import Any

import pytest

from overlay.core.errors import InvalidSetting
from overlay.experiment.definition import configurations, normalised
from overlay.experiment.whatif import changed, in_words
from overlay.systems.context_broker.workload import Workload, plan_clients
from overlay.topologies import generate


def configuration(engine: str = "simulated", **workload: Any) -> dict[str, Any]:
    links = [{"a": link.a, "b": link.b, "delay_ms": 5.0} for link in generate("ring", 6).links]
    document = {"name": "Ring", "kind": "ring", "brokers": 6, "links": links, "positions": None}
    body = {"name": "x", "topology": "t", "engine": engine, "workload": workload}
    return configurations(normalised(body, lambda _: document), lambda _: document)[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"add_link": [4, 1]}, "with a link 4–1"),
        ({"cut_link": [0, 1]}, "without the link 0–1"),
        ({"kill": 3}, "broker 3 dead"),
        ({"settings": {"search": "flood"}}, "search = flood"),
        ({"settings": {"monitoring": False}}, "monitoring = off"),
        ({"record_mb": 8}, "recorded"),
    ],
)
@pytest.mark.parametrize("engine", ["live", "simulated"])
def test_one_thing_changes_and_no_arrival_moves(engine: str, change: dict[str, Any], words: str) -> None:
    before = configuration(engine)
    after = changed(before, change)
    assert before == configuration(engine)
    assert after != before
    assert in_words(change) == words
    plans = [plan_clients(Workload(**one["workload"]), one["topology"]["brokers"], 7) for one in (before, after)]
    assert plans[0] == plans[1]


def test_a_new_link_is_shaped_as_the_others_are() -> None:
    added = changed(configuration(), {"add_link": [4, 1]})["topology"]
    assert added["links"][-1] == {"a": 1, "b": 4, "delay_ms": 5.0}
    assert added["name"] == "Ring, with 1–4"


@pytest.mark.parametrize("engine", ["live", "simulated"])
def test_a_dead_broker_is_a_fault_from_the_beginning_of_measuring(engine: str) -> None:
    slow = {"what": "slow", "links": "all", "delay_ms": 5.0, "at_s": 1.0}
    before = {**configuration(engine), "faults": [slow]}
    assert changed(before, {"kill": 3})["faults"] == [slow, {"what": "kill", "brokers": [3], "at_s": 0}]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (None, "must be an object with exactly one of"),
        ({"kill": 3, "record_mb": 8}, "must be an object with exactly one of"),
        ({"nothing": 1}, "nothing: is not known"),
        ({"add_link": [0, 1]}, "add_link: brokers 0 and 1 are linked already"),
        ({"add_link": [0, 6]}, "add_link: must be the number of a broker, 0 to 5, not 6"),
        ({"add_link": "01"}, "add_link: must be the numbers of two brokers"),
        ({"cut_link": [0, 2]}, "cut_link: brokers 0 and 2 are not linked"),
        ({"kill": True}, "kill: must be the number of a broker"),
        ({"settings": {"search": "walk"}}, "settings.search: is 'walk' already"),
        ({"settings": {"search": "guess"}}, "settings.search: must be one of"),
        ({"settings": {"colour": 1}}, "settings.colour: is not a setting of a broker"),
        ({"settings": {"search": "flood", "walk_ttl": 9}}, "settings: must be an object with exactly one setting"),
        ({"record_mb": 0}, "record_mb: is 0 already"),
        ({"record_mb": 10**6}, "record_mb: must be at most"),
    ],
)
def test_what_is_no_change_is_named(change: Any, sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        changed(configuration(), change)
