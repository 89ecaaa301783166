"""Pages of a system with one server and many settings: no topology, no drawing of one node, sections of settings."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from django.contrib.auth.models import User
from django.test import Client

from brokerweb.builder import filling
from brokerweb.experiments.whatif import what_if
from brokerweb.kit import setting_sections
from brokerweb.networks import services as networks
from brokerweb.runpage import shown
from brokerweb.systems.tags import letters_of
from overlay.systems.registry import FIRST, SYSTEMS, servers_title
from telemetry.formatting import natural
from telemetry.lake.configurations import choose, differing
from telemetry.reports import own_figures
from tests.pages.pushed import make_run
from tests.pages.recorded import run_it


def text_of(browser: Client, address: str) -> str:
    page = browser.get(address).content.decode()
    return " ".join(re.sub(r"<[^>]+>", " ", page[page.index("<main") :]).split())


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_form_has_every_setting_once(system: str) -> None:
    form = filling.shown({"system": system})
    placed = [*form.main_settings, *(one for section in form.setting_sections for one in section.inputs)]
    assert sorted(one.info.name for one in placed) == sorted(info.name for info in SYSTEMS[system].settings)
    sections = SYSTEMS[system].presentation.setting_sections
    assert [section.title for section in form.setting_sections][: len(sections)] == list(sections)


def test_a_section_is_open_if_changed_and_hidden_if_unused() -> None:
    form = filling.shown({"system": "radiator", "settings": {"tries": 7}})
    by_title = {section.title: section for section in form.setting_sections}
    assert [title for title, section in by_title.items() if section.is_open] == ["Datagrams"]
    assert by_title["Datagrams"].changed == 1
    assert [title for title, section in by_title.items() if section.is_hidden] == ["Links of clients"]
    simulated = filling.shown({"system": "radiator", "engine": "simulated"})
    assert not any(section.is_hidden for section in simulated.setting_sections)


def test_the_form_of_a_network_has_what_a_network_uses() -> None:
    left_out = {info.name for info in networks.described("radiator")} - {
        info.name for info in networks.offered("radiator")
    }
    assert left_out == set(SYSTEMS["radiator"].presentation.run_settings)
    assert networks.offered() == list(networks.described())


def test_numbers_in_words_count_by_size() -> None:
    assert sorted(["{volume: 20}", "{volume: 5}", "{time: 30}"], key=natural) == [
        "{time: 30}",
        "{volume: 5}",
        "{volume: 20}",
    ]


def test_each_system_has_a_mark_of_its_own() -> None:
    assert len({letters_of(system) for system in (*SYSTEMS, "removed")}) == len(SYSTEMS) + 1
    assert setting_sections.named([], {"Empty": ("tries",)}) == []


def test_no_page_offers_a_topology_or_draws_one_node(olga: Client, operator: User) -> None:
    for address in ("/experiments/new/?system=radiator", "/networks/new/?system=radiator"):
        page = olga.get(address).content.decode()
        assert 'name="topology"' not in page, address
        assert "Chains" in page, address
    run = make_run(operator)
    again = run_it(what_if(run, {"settings": {"chain_percent": 0}}, operator))
    said, page = text_of(olga, f"/runs/{run.pk}/"), olga.get(f"/runs/{run.pk}/").content.decode()
    assert "R Radiator Radiator · 1 server, 20 clients" in said
    assert re.search(r"Pairs delivered [\d\u202f,]+ of [\d\u202f,]+", said)
    assert 'id="overlay"' not in page and "Overlay" not in said and "Topology" not in said
    assert 'data-chart="memory"' not in page and 'data-chart="lag"' in page
    heads = re.findall(r"<th scope.*?</th>", olga.get("/runs/").content.decode())
    assert not any("Topology" in head for head in heads)
    assert "Add a link" not in text_of(olga, f"/runs/{run.pk}/what-if/")
    difference = text_of(olga, f"/runs/{again.pk}/difference/")
    assert "Mean lag" in difference and "Pushes" in difference and "request" not in difference.lower()


def test_reports_have_the_figures_of_one_system_and_compare_what_all_have(operator: User) -> None:
    run = make_run(operator)
    first = {"system": FIRST, "engine": "simulated", "settings": SYSTEMS[FIRST].whole({}), "topology": {"brokers": 1}}
    ours = choose({"run": run.pk, "configuration": run.configuration}, {"summary": run.summary})
    other = choose({"run": "other", "configuration": {**first, "workload": {"duration_s": 9}}}, {})
    assert (
        {"system", "duration_s"}
        <= set(differing([ours, other]))
        <= {*("system", "duration_s", "stagger_ms", "topology", "kind", "brokers", "faults", "service_times")}
    )
    assert own_figures.of_configuration([other]) == {}
    row = {"label": "ours", "engine": "simulated", "system": "radiator", "topology": {"shaped": False}}
    rows = [{**row, **own_figures.of_configuration([ours, ours])}]
    assert rows[0]["own"]["radiator.bytes_per_pair"]["n"] == 2
    assert "Outbound bytes per pair" in own_figures.columns(rows)
    assert {"own-bytes-per-pair", "own-lag-mean"} <= {one["id"] for one in own_figures.charts(rows)}
    assert "own-lag-mean" not in {one["id"] for one in own_figures.charts([{**rows[0], "deliveries": {}}])}


def test_key_figures_that_are_known_at_the_end_are_only_named_before() -> None:
    run = SimpleNamespace(system="radiator", state="measuring", summary={})
    servers = servers_title(["radiator"])
    found = shown.key_figures(run, servers)
    assert (found["main"], [one.live for one in found["more"]]) == ([], ["totals.pairs_retained"])
    assert "Mean lag" in [one.title for one in found["later"]]
    run.state = "done"
    found = shown.key_figures(run, servers)
    assert (len(found["main"]), found["later"]) == (5, [])
