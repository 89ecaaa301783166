"""Copies over queries in virtual time, on a scene small enough for a test; the command runs the whole."""

from telemetry.__main__ import main
from telemetry.systems.context_broker.lab.copies import STRATEGIES, Scene, shapes_of, steady_copies

SMALL = Scene(brokers=20, entities=5, queries_per_s=0.15, settled_s=100, measured_s=100)


def test_copies_follow_queries_and_strategies_order_as_they_should() -> None:
    found = {name: shapes_of(settings, SMALL, range(1)) for name, settings in STRATEGIES.items()}
    copies = {name: sum(one.copies) for name, one in found.items()}
    assert copies["random, 1"] < copies["random, 3"] < copies["path"] < copies["path, refreshed"]
    assert copies["requester"] < copies["path"]
    for name, one in found.items():
        assert min(one.copies) >= 1, "the provider's own broker has it all the while"
        assert one.all is not None
        assert one.all.exponent > 0 or name == "path, refreshed", "replicas that never end have no slope left"


def test_equal_seeds_give_equal_copies() -> None:
    path = STRATEGIES["path"]
    assert steady_copies(path, SMALL, 3) == steady_copies(path, SMALL, 3) != steady_copies(path, SMALL, 4)


def test_the_command_prints_a_line_for_each_strategy(capsys) -> None:
    assert main(["copies", "--brokers", "12", "--entities", "4", "--queries-per-s", "0.1", "--seeds", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "virtual time" in printed[0]
    assert [line.split("  ")[0] for line in printed[2:-1]] == list(STRATEGIES)
