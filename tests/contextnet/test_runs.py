"""Simulated runs of ContextNet: what all its parts do together, by the measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from overlay.core.chance import Chances
from overlay.core.engines import SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import checked
from overlay.journal.journal import read_journal
from overlay.sim.engine import journal_path, simulate
from overlay.sim.replay import replay_all
from overlay.systems.contextnet.measuring.figures import measures
from overlay.systems.contextnet.system import SYSTEM
from overlay.systems.roles import Place
from overlay.topologies import Graph
from tests.thorough import thoroughly

WORKLOAD = {"nodes": 12, "messages": 3, "rate_per_min": 20, "connect_interval_ms": 10, "drain_s": 20}
COMING = {"disconnecting_share": 0.5, "off_s": 6, "on_s": 12, "messages": 8, "drain_s": 40}


def run(directory: Path, settings: dict[str, Any], workload: dict[str, Any], **more: Any) -> dict[str, Any]:
    definition = {"name": "test", "system": "contextnet", "engine": SIMULATED}
    definition |= {"settings": settings, "workload": WORKLOAD | workload, **more}
    configuration = checked(definition, {}.get)[1][0]
    document = run_document(configuration, run="r1", seed=1, directory=str(directory))
    document["record_mb"] = more.get("record_mb", 0)
    outcome = simulate(Deployment.from_json(json.loads(json.dumps(document)), SIMULATED))
    return {**measures(read_journal(journal_path(directory))), "digest": outcome.digest}


def test_every_message_is_answered_in_both_directions_and_equal_seeds_give_equal_runs(tmp_path: Path) -> None:
    settings, workload = {}, {"direction": "both", "gateways": 2, "brokers": 2}
    one, other = (run(tmp_path / name, settings, workload) for name in ("one", "other"))
    assert one == other
    assert (one["sent"], one["delivered"], one["duplicates"]) == (72, 72, 0)
    assert 4_000 < one["rtt_p50_us"] < 8_000, "four times over links of 2 ms at most, and the log"
    assert one["repeats"] == one["breaks"] == 0


def test_nodes_that_come_and_go_lose_messages_without_a_store_only(tmp_path: Path) -> None:
    workload = {"direction": "outbound"} | COMING
    paper = {"profile": "paper", "retries": 2, "ping_period_s": 2}
    without = run(tmp_path / "without", paper | {"mtd_enabled": False}, workload)
    assert without["te_fixed"] == 100 > without["te_disconnecting"]
    assert without["lost"] == without["sent"] - without["delivered"] > 0
    with_store = run(tmp_path / "with", paper | {"mini_buffer": 64}, workload)
    assert (with_store["te"], with_store["lost"], with_store["duplicates"]) == (100, 0, 0)
    assert with_store["stored_delay_mean_s"] > 1


@pytest.mark.parametrize("disconnect", ["abrupt", "graceful"])
def test_by_default_nothing_is_lost(tmp_path: Path, disconnect: str) -> None:
    found = run(tmp_path, {}, COMING | {"direction": "both", "disconnect": disconnect, "link_loss": 0.02})
    assert (found["te"], found["duplicates"]) == (100, 0)
    assert found["repeats"] > 0


def test_addresses_change_also_while_nodes_are_off(tmp_path: Path) -> None:
    found = run(tmp_path, {}, COMING | {"direction": "both", "address_change_per_h": 3_600})
    assert (found["lost"], found["duplicates"]) == (0, 0)


def test_a_recorded_run_replays_byte_for_byte_with_its_faults(tmp_path: Path) -> None:
    faults = [
        {"what": "restart", "servers": ["gateway-0"], "at_s": 3},
        {"what": "log_cut", "servers": ["mtd-0"], "at_s": 2, "until_s": 6},
    ]
    found = run(tmp_path, {}, COMING | {"direction": "both", "off_s": 3}, faults=faults, record_mb=8)
    assert (found["lost"], found["duplicates"]) == (0, 0)
    replayed = replay_all(tmp_path / "journal")
    lives = ["gateway-0", "gateway-0, life 2", "mtd-0", "poa-0"]
    assert [(one.begin.name, one.difference) for one in replayed] == [(name, None) for name in lives]


def test_what_waits_in_the_log_for_a_busy_application_is_late(tmp_path: Path) -> None:
    found = run(tmp_path, {}, {"app_service_ms": 2_000, "nodes": 40, "drain_s": 5})
    assert found["late"] == found["sent"] - found["delivered"] > 50
    assert (found["lost"], found["app_queue_slope"] > 5) == (0, True)


def test_nodes_of_a_gateway_that_is_drained_get_their_messages_there_until_they_have_moved(tmp_path: Path) -> None:
    drained = [{"what": "drain", "servers": ["gateway-0"], "at_s": 2, "until_s": 12}]
    settings = {"round_s": 2, "ping_period_s": 2}
    found = run(tmp_path, settings, {"direction": "both", "gateways": 2, "messages": 5}, faults=drained)
    assert (found["te"], found["stored"], found["duplicates"]) == (100, 0, 0)
    assert found["handovers"] > 0


def test_what_a_gateway_gets_after_its_lifetime_has_expired(tmp_path: Path) -> None:
    slow = [{"what": "log_slow", "delay_ms": 1_500, "at_s": 1, "until_s": 5}]
    settings = {"expiry_from": "created", "ttl_default_s": 1}
    found = run(tmp_path, settings, {"direction": "outbound"}, faults=slow)
    assert found["expired"] == found["sent"] - found["delivered"] > 0
    assert found["stored"] == found["lost"] == 0


def test_what_expires_in_the_queue_of_a_silent_node_is_not_lost(tmp_path: Path) -> None:
    settings = {"expiry_from": "created", "ttl_default_s": 2, "window": 1}
    found = run(tmp_path, settings, COMING | {"direction": "outbound", "rate_per_min": 60})
    assert found["expired"] == found["sent"] - found["delivered"] > 0
    assert found["stored"] == found["lost"] == found["breaks"] == 0, "the gateway still has the connection"


def test_readers_accept_lists_of_gateways_as_old_as_their_period_makes_them() -> None:
    config = SYSTEM.config_of(SYSTEM.setup({"list_s": 3_600, "round_s": 600}, None, Graph(1, ())))
    for role in ("gateway", "poa"):
        server = SYSTEM.make_server(config, Place(f"{role}-0", 0, ("127.0.0.1", 1), ()), Chances.streams(1), 0)
        (ages,) = (one.since_s for one in server.subscriptions() if one.topic == "gw_list")
        assert ages >= 7_200, "the last one, also if the next is late"


def test_a_list_of_gateways_is_written_again_before_the_log_drops_it() -> None:
    with pytest.raises(InvalidSetting, match="list_s: must be at most retention_s - 60, which is 540 s"):
        SYSTEM.read_settings({"list_s": 600, "retention_s": 600, "ttl_default_s": 500})


def test_nodes_that_share_a_socket_do_the_same(tmp_path: Path) -> None:
    """Each with its own connection, also while they come, go and are moved."""
    settings = {"budget": 0.3, "persistence": 1, "round_s": 2, "ping_period_s": 2, "hold_s": 10}
    workload = COMING | {"direction": "both", "gateways": 2, "start": "first", "fleet_sockets": "one"}
    found = run(tmp_path, settings, workload | {"definers": 1, "groupcast_per_min": 60})
    assert (found["te"], found["lost"], found["duplicates"], found["group_wrong"]) == (100, 0, 0, 0)
    assert found["handovers"] > 0


def test_nodes_that_share_a_socket_cannot_change_their_ports_and_do_not_use_quic() -> None:
    with pytest.raises(InvalidSetting, match="address_change_per_h: needs fleet_sockets node"):
        SYSTEM.read_workload({"fleet_sockets": "one", "address_change_per_h": 1})
    with pytest.raises(InvalidSetting, match="fleet_sockets: one needs transport tether"):
        SYSTEM.check_fit(SYSTEM.setup({"transport": "quic"}, {"fleet_sockets": "one"}, Graph(1, ())))


def test_messages_to_groups_reach_their_members_and_no_other_node(tmp_path: Path) -> None:
    groups = {"definers": 2, "groups": 3, "context_change_per_min": 6, "groupcast_per_min": 60}
    found = run(tmp_path, {}, groups | {"nodes": 20, "messages": 6})
    assert (found["te"], found["group_wrong"]) == (100, 0)


@thoroughly
def test_balancing_moves_nodes_from_a_full_gateway(tmp_path: Path) -> None:
    workload = {"nodes": 60, "gateways": 3, "start": "first", "gateway_capacity": "60,60,30", "load_noise": 0.02}
    settings = {"budget": 0.3, "persistence": 1, "round_s": 5, "hold_s": 30}
    found = run(tmp_path, settings, workload | {"messages": 60})
    assert found["handovers"] >= 30
    assert found["max_load_over_mean"] < 1.6, "it would be 3"
    assert (found["te"], found["duplicates"]) == (100, 0)


@thoroughly
def test_the_figures_of_the_paper_are_near(tmp_path: Path) -> None:
    """E4.2 at a tenth of the nodes: Fig. 15."""
    workload = {"nodes": 300, "direction": "outbound", "rate_per_min": 4, "messages": 40, "disconnecting_share": 0.3}
    found = run(tmp_path, {"profile": "paper", "balancing": False, "mtd_enabled": False}, workload | {"drain_s": 60})
    assert found["te_fixed"] == 100
    assert found["te_disconnecting"] == pytest.approx(85.2, abs=2)
