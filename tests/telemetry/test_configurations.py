"""Runs become configurations: replicates agree in everything but their seed."""

import pytest

from overlay.systems.context_broker.profiles import PROFILES
from overlay.systems.registry import SYSTEMS
from telemetry.errors import TelemetryError
from telemetry.lake.configurations import (
    choose,
    differing,
    grouped,
    in_words,
    label,
    links_in_words,
    without_repeats,
)
from telemetry.reports.comparison import compare
from telemetry.reports.measured import Measured

MANIFEST = {
    "seed": 2**64 - 1,
    "system": "context-broker",
    "topology": {"name": "ring of ten", "kind": "ring", "brokers": 10, "links": []},
    "settings": {"walk_policy": "avoid"},
    "workload": {"consumers": 50, "update_interval_s": 1.0},
    "summary": {"verdict": "suspect", "verdict_reasons": ["Generator late."]},
}


def run(name, replicate=0, **configuration):
    return choose({"run": name, "replicate": replicate, "configuration": configuration}, MANIFEST)


def test_what_a_row_leaves_out_the_manifest_says():
    chosen = run("a", 2)
    assert (chosen.kind, chosen.brokers, chosen.seed) == ("ring", 10, "18446744073709551615")
    assert (chosen.verdict, chosen.reasons, chosen.replicate) == ("suspect", ("Generator late.",), 2)


def test_replicates_are_grouped_and_a_changed_setting_is_not_one():
    runs = [run("a"), run("b", 1), run("c", settings={"walk_policy": "uniform"}), run("d", workload={"consumers": 500})]
    groups = list(grouped(runs).values())
    assert [[one.run for one in group] for group in groups] == [["a", "b"], ["c"], ["d"]]
    assert differing(runs[:2]) == []
    names = differing(runs)
    assert names == ["walk_policy", "consumers", "update_interval_s"]
    assert label(runs[2], names) == "ring of ten, walk policy uniform, 50 consumers, 1 s between updates"
    assert label(runs[3], names) == "ring of ten, walk policy avoid, 500 consumers"


def of_profile(name, profile, **settings):
    whole = SYSTEMS["context-broker"].whole({"profile": profile, **settings})
    return choose({"run": name, "configuration": {"settings": whole}}, MANIFEST)


def test_profiles_are_told_by_their_name_and_what_else_differs_beside_it():
    runs = [of_profile("a", "plain"), of_profile("b", "improved")]
    assert differing(runs) == ["profile"]
    assert label(runs[1], differing(runs)) == "ring of ten, profile improved"
    runs.append(of_profile("c", "improved", walk_policy="uniform"))
    assert differing(runs) == ["profile", "walk_policy"]


def test_a_profile_and_its_settings_spelt_out_are_one_configuration():
    spelt = of_profile("b", "plain", **PROFILES["improved"])
    assert spelt.key() == of_profile("a", "improved").key() != of_profile("c", "plain").key()


def test_a_factor_is_said_in_the_singular_where_there_is_one():
    assert [in_words("providers", 1), in_words("providers", 50)] == ["1 provider", "50 providers"]
    assert [in_words("brokers", 1), in_words("entities", 1)] == ["1 broker", "1 entity"]
    assert [in_words("churn_leave_share", 0.5), in_words("duration_s", 1)] == ["churn leave share 0.5", "1 s measured"]


def test_settings_read_in_words_with_their_units():
    assert [in_words("stagger_ms", 200.0), in_words("table_entries", 50)] == ["stagger 200 ms", "table 50 entries"]
    assert [in_words("service_times", "calibrated"), in_words("hop_ack", False)] == [
        "service times calibrated",
        "hop ack off",
    ]


def test_the_same_topology_with_other_links_is_another_configuration():
    shaped = [{"a": 0, "b": 1, "delay_ms": 0.5, "jitter_ms": 0, "loss": 0}, {"a": 1, "b": 2, "delay_ms": 5}]
    other = run("b", topology={"links": shaped})
    assert other.key() != run("a").key()
    assert links_in_words(shaped) == "delay 0.5 to 5 ms"
    assert links_in_words([{"loss": 0.1}, {"loss": 0.1}]) == "loss 0.1"
    assert links_in_words([]) == ""


@pytest.mark.parametrize("row", [{}, {"run": 7}, "r1", {"run": "../x"}])
def test_a_row_that_names_no_run_is_refused(row):
    with pytest.raises(TelemetryError):
        choose(row, MANIFEST)


def test_a_recorded_run_is_no_replicate_of_one_that_is_not():
    runs = [run("a"), run("b", record_mb=64)]
    assert len(grouped(runs)) == 2
    assert label(runs[1], differing(runs)) == "ring of ten, 64 MB recorded"


def test_a_simulated_run_done_again_is_no_replicate_and_a_live_one_is():
    def of(name, engine, seed, started):
        return choose({"run": name, "engine": engine, "seed": seed}, {**MANIFEST, "started": started})

    runs = [
        of("a", "simulated", 1, "2026-11-22T02:00:00+00:00"),
        of("b", "simulated", 1, "2026-11-22T01:00:00+00:00"),
        of("c", "simulated", 2, "2026-11-22T01:00:00+00:00"),
        of("d", "live", 1, "2026-11-22T01:00:00+00:00"),
        of("e", "live", 1, "2026-11-22T02:00:00+00:00"),
    ]
    kept, repeated = without_repeats(runs)
    assert ([one.run for one in kept], [one.run for one in repeated]) == (["a", "c", "d", "e"], ["b"])
    nothing = Measured(response={}, pooled={}, curves={}, outcomes={}, truths={}, memory={})
    report = compare(kept, nothing, "again", {}, repeated)
    assert [row["n"] for row in report["configurations"]] == [2, 2]
    assert any("are excluded" in note and note.endswith(": b.") for note in report["notes"])
