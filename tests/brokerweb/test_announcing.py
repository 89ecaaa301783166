"""Networks announced by DNS-SD on loopback: what runs is found, and nothing is left behind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given, settings
from hypothesis import strategies as st

from brokerweb.networks import announcing
from brokerweb.networks.announcing import MOST_BROKERS, Announcing, announced
from brokerweb.networks.models import Network, NetworkState
from brokerweb.networks.probes import FEW_SECONDS
from brokerweb.networks.probing import probe_file
from brokerweb.topologies import services as topologies
from overlay.cli import commands
from overlay.core.announcements import MOST_LABEL, SERVICE, Announcement, read
from overlay.runtime.announcing import Browser
from tests.thorough import examples
from tests.waiting import wait_for

NOW = 1_795_400_000
LOOPBACK = "127.0.0.1"
NAMES = st.text(max_size=100)


@settings(max_examples=examples(100))
@given(st.builds(Announcement, st.just("q2x7"), NAMES, st.just("s"), st.integers(0, 9999), st.just((LOOPBACK, 1))))
def test_what_is_announced_is_read_and_names_fit(one: Announcement) -> None:
    label = one.instance.removesuffix(f".{SERVICE}")
    assert len(label.encode()) <= MOST_LABEL
    assert "." not in label
    assert label.isprintable() or not one.name.isprintable()
    found = read(one.text, one.address)
    assert found is not None
    assert (found.network, found.index, found.system) == (one.network, one.index, one.system)
    assert one.name.startswith(found.name)


@settings(max_examples=examples(100))
@given(st.dictionaries(st.sampled_from(["txtvers", "net", "name", "sys", "idx", "x"]), st.none() | st.text(max_size=9)))
def test_other_records_are_ignored(text: dict[str, str | None]) -> None:
    found = read(text, (LOOPBACK, 1))
    assert found is None or (text["txtvers"] == "1" and str(found.index) == str(int(text["idx"] or "")))


@pytest.fixture
def network(operator: User, settings: Any) -> Network:
    ring = topologies.create(name="ring", kind="ring", brokers=12, params={}, seed=1, owner=operator)
    rows = [{"index": index, "state": "up", "address": f"127.0.0.1:{7000 + index}"} for index in range(12)]
    rows[1]["state"] = "restarting"
    rows[2]["address"] = "10.0.0.5:7002"
    deployed = topologies.document(ring)
    return Network.objects.create(
        name="campus", topology=ring, deployed=deployed, state=NetworkState.RUNNING, host="here", brokers=rows
    )


@pytest.mark.django_db
def test_brokers_that_answer_and_can_be_reached_are_announced(network: Network) -> None:
    probe_file(network).write(FEW_SECONDS, NOW - 10, {0: {"asked": 5, "answered": 0}, 3: {"asked": 5, "answered": 4}})
    found = list(announced("here", LOOPBACK, NOW))
    assert [one.index for one in found] == [3, 4, 5, 6, 7, 8, 9, 10][:MOST_BROKERS]
    assert {(one.network, one.name, one.system) for one in found} == {(network.pk, "campus", network.system)}
    assert [one.address for one in announced("here", "10.0.0.5", NOW)] == [("10.0.0.5", 7002)]
    assert list(announced("elsewhere", LOOPBACK, NOW)) == []
    Network.objects.update(state=NetworkState.STOPPED)
    assert list(announced("here", LOOPBACK, NOW)) == []


@pytest.mark.django_db
def test_what_runs_is_found_and_nothing_is_left_behind(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcing, "MOST_BROKERS", 2)
    browser, thread = Browser(LOOPBACK), Announcing("here", LOOPBACK)

    def found() -> list[int]:
        return [one.index for one in browser.found if one.network == network.pk]

    try:
        thread.round()
        wait_for(lambda: found() == [0, 3], lambda: f"both are found: {browser.found}")
        rows = [row for row in network.brokers if row["index"] != 3]
        Network.objects.update(brokers=rows)
        thread.round()
        wait_for(lambda: found() == [0, 4], lambda: f"another broker takes its place: {browser.found}")
        thread.close()
        wait_for(lambda: found() == [], lambda: f"nothing is left: {browser.found}")
    finally:
        thread.close()
        browser.close()


def test_the_command_lists_what_it_finds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    known = [Announcement("q2x7", "cam\x1bpus", "s", index, (LOOPBACK, 7000 + index)) for index in range(2)]
    known.append(Announcement("z9", "other", "s", 0, (LOOPBACK, 8000)))

    class Known:
        found = known

        def __init__(self, interface: str) -> None:
            """Nothing is sent."""

        def close(self) -> None:
            """Nothing was opened."""

    monkeypatch.setattr("overlay.cli.discover.Browser", Known)
    soon = ("discover", "--wait", "0.01")
    assert commands.main([*soon, "--list", "--network", "z9"]) == 0
    assert capsys.readouterr().out == "127.0.0.1:8000\n"
    assert commands.main(list(soon)) == 0
    assert "cam\\x1bpus" in capsys.readouterr().out
    assert commands.main([*soon, "--json"]) == 0
    networks = json.loads(capsys.readouterr().out)["networks"]
    assert [(one["network"], len(one["brokers"])) for one in networks] == [("q2x7", 2), ("z9", 1)]
    capsys.readouterr()
    assert commands.main([*soon, "--network", "nothere"]) == 1
    sentence = "overlay discover: DNS-SD has no network nothere, but cam\\x1bpus (q2x7), other (z9).\n"
    assert capsys.readouterr().err == sentence
    known.append(Announcement("k3", "other", "s", 0, (LOOPBACK, 8001)))
    assert commands.main([*soon, "--list", "--network", "other"]) == 1
    said = capsys.readouterr()
    assert (said.out, "2 networks with the name other: z9, k3. Give the id of one." in said.err) == ("", True)
    assert commands.main([*soon, "--list", "--network", "k3"]) == 0
    assert capsys.readouterr().out == "127.0.0.1:8001\n"
    for wrong in (["--wait", "0"], ["--wait", "nan"]):
        with pytest.raises(SystemExit, match="2"):
            commands.main(["discover", *wrong])


def test_an_interface_that_is_not_there_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    for interface in ("nothere", "203.0.113.9"):
        with pytest.raises(SystemExit, match="2"):
            commands.main(["discover", "--interface", interface])
        assert "--interface: cannot use multicast DNS on" in capsys.readouterr().err
