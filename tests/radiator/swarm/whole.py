"""One seed in five is a run as users have it: a drawn workload, churn and faults as documents, by the engine.

What must hold is read from its facts: the measures of pairs add up, nothing is delivered twice, no call is accepted
twice, and every form of Algorithm 1 gives the same run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from overlay.journal.facts import Delivery, Fact, Row, Sample
from overlay.sim import engine
from overlay.sim.actors import CheckedActor
from overlay.systems.radiator.aggregation.choice import FORMS
from overlay.systems.radiator.measuring import measures
from overlay.systems.radiator.rows import Message, Propagation
from tests.radiator.runs import ran
from tests.radiator.swarm.plan import draw_transport
from tests.soak.subject import Told

EVERY, AT = 5, 4
DURATION_S, DRAIN_S = 10, 30
FUNCTIONS = ("{volume: 1}", "{volume: 3}", "{people: 3}", "{time: 1}", "{volume: 1 + r.num_of_shares // 300}")
STATES = ("delivered", "retained", "dropped", "failed")
ROUNDED_US = 0.001


def is_whole(seed: int) -> bool:
    return seed % EVERY == AT


def draw(seed: int) -> dict[str, Any]:
    """The configuration: settings, workload and faults."""
    random = Random(f"whole {seed}")
    scenario = random.choice(["custom", "custom", "custom", "2", "3", "4", "5", "6"])
    settings = {
        **draw_transport(random),
        "scenario": scenario,
        "aggregability": random.choice(FUNCTIONS) if scenario == "custom" else "auto",
        "echo": random.random() < 0.5,
        "index": random.choice([*FORMS]),
        "retain_max_s": random.choice([0, 2, 2]),
        "server_link_delay_ms": random.choice([0, 10]),
        "peer_link_delay_ms": random.choice([0, 10]),
        **{f"{link}_link_loss": random.choice([0, 0, 0.05]) for link in ("server", "peer")},
    }
    workload = {
        "clients": random.randint(2, 15),
        "messages_per_s": random.choice([2, 5]),
        "loop": random.choice(["open", "open", "closed"]),
        "arrivals": random.choice(["even", "poisson"]),
        "content": random.choice(["hazards", "random", "constant"]),
        "p2p_share": random.choice([1, 1, 0.5]),
        "moving": random.random() < 0.3,
        "audience": random.choice([0, 0, 0, 2]),
        "duration_s": DURATION_S,
        "drain_s": DRAIN_S,
        "churn": random.choice(["none", "none", "exponential"]),
        "session_mean_s": 5,
        "downtime_mean_s": 2,
    }
    faults = [fault(random) for _ in range(random.randint(0, 3))]
    return {"settings": settings, "workload": workload, "faults": faults}


def fault(random: Random) -> dict[str, Any]:
    begin, end = sorted(random.uniform(0, DURATION_S) for _ in range(2))
    clients = {"clients": random.choice([0.2, ["client-1"]])}
    what = random.choice(
        [
            {"what": "crash", **clients},
            {"what": "crash_at_push", **clients},
            {"what": "silent", **clients},
            {"what": "late", **clients, "by_ms": random.choice([100, 2_000])},
            {"what": "loss", **clients, "share": 0.2},
            {"what": "cut", "servers": ["server-0"]},
            {"what": "kill", "brokers": [0]},
            {"what": "restart", "brokers": [0]},
        ]
    )
    ends = {} if what["what"] == "restart" else {"until_s": min(DURATION_S, round(end + 0.1, 3))}
    return {**what, "at_s": round(begin, 3), **ends}


def run(seed: int) -> Told:
    configuration = draw(seed)
    outcome, facts = ran_in_a_directory(seed, configuration)
    check(configuration, facts)
    if seed % (3 * EVERY) == AT:
        index = next(form for form in FORMS if form != configuration["settings"]["index"])
        other = {**configuration, "settings": {**configuration["settings"], "index": index}}
        assert ran_in_a_directory(seed, other)[0].digest == outcome.digest, f"{index} gives another run"
    delivered = sum(isinstance(fact, Delivery) for fact in facts)
    return Told(outcome.digest, delivered, configuration["workload"]["duration_s"] + DRAIN_S)


def ran_in_a_directory(seed: int, configuration: dict[str, Any]) -> tuple[Any, list[Fact]]:
    parts = dict(configuration)
    settings, workload, faults = parts.pop("settings"), parts.pop("workload"), parts.pop("faults")
    with TemporaryDirectory() as directory, patch.object(engine, "NodeActor", CheckedActor):
        return ran(Path(directory), settings, workload, seed=seed, faults=faults)


def check(configuration: dict[str, Any], facts: Sequence[Fact]) -> None:
    found = measures(facts)
    pairs = [found[f"pairs_{state}"] for state in STATES]
    assert sum(pairs) == found["pairs_due"], f"{pairs} do not add up to {found['pairs_due']}"
    assert min(pairs) >= 0 <= found["pairs_in_flight"] <= found["pairs_failed"], f"{pairs}"
    assert found["messages"] == sum(isinstance(fact, Sample) for fact in facts)
    assert found["accepted"] + found["refused"] == found["messages"] and found["refused"] >= 0
    if configuration["settings"]["retain_max_s"]:
        assert found["pairs_retained"] == 0, "after draining messages are retained beyond retain_max_s"
    if found["lag_mean_us"] is not None:
        parts = sum(found[f"lag_{part}_us"] for part in ("acceptance", "retention", "transport"))
        assert abs(parts - found["lag_mean_us"]) < ROUNDED_US, "the parts of the lag do not add up"
        assert min(found[f"lag_{part}_us"] for part in ("acceptance", "retention", "transport")) >= 0
    kinds = {fault["what"] for fault in configuration["faults"]}
    check_rows(facts, is_never_killed=not kinds & {"kill", "restart"})


def check_rows(facts: Sequence[Fact], *, is_never_killed: bool) -> None:
    messages = [Message(*fact.values) for fact in facts if isinstance(fact, Row) and fact.table == "messages"]
    emitted = [Propagation(*fact.values) for fact in facts if isinstance(fact, Row) and fact.table == "propagations"]
    accepted = Counter(message.name for message in messages)
    assert not accepted or max(accepted.values()) == 1, "a call was accepted twice"
    answered = {fact.entity for fact in facts if isinstance(fact, Sample) and fact.outcome == "answered"}
    if is_never_killed:  # who is killed reports nothing of its last second
        assert answered <= set(accepted), "a call is said to be accepted, and was not"
    left = Counter[tuple[str, int]]()
    for propagation in emitted:
        left.update({(propagation.epoch, number): propagation.recipients for number in propagation.messages})
    for message in messages:
        assert left[message.epoch, message.number] <= message.due, "a message left for more than its recipients"
    by_name = {propagation.name: propagation for propagation in emitted}
    received = Counter(
        (by_name[fact.publication].epoch, number, fact.client)
        for fact in facts
        if isinstance(fact, Delivery) and fact.publication in by_name
        for number in by_name[fact.publication].messages
    )
    assert not received or max(received.values()) == 1, "a message was delivered twice"
