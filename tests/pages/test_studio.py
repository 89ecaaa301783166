"""The pages of the studio: what they show, who may open them, and what an upload does."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from brokerweb.experiments.models import Run
from brokerweb.topologies import pictures, studio, walk_views
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from overlay.core.links import Link
from overlay.topologies import Graph, generate, measures, parts
from telemetry.formatting import sig3
from tests.pages.furniture import House


@pytest.fixture
def ring(operator: User) -> Topology:
    """A ring of six that was edited once: broker 2 taken out, a chord drawn, a link slowed."""
    ring = topologies.create(name="ring", kind="ring", brokers=6, owner=operator)
    graph = topologies.to_graph(ring)
    links = (Link(0, 1, 5.0), Link(2, 3), Link(3, 4), Link(0, 4), Link(1, 3))
    places = tuple(place for i, place in enumerate(graph.positions or ()) if i != 2)
    return studio.save(ring.pk, Graph(5, links, places), since=1, by=operator, note="one broker less")


def test_the_editor_opens_with_what_is_saved(olga: Client, ring: Topology) -> None:
    page = olga.get(f"/topologies/{ring.pk}/edit/")
    drawing = json.loads(
        page.content.decode().split('id="drawing-data" type="application/json">')[1].split("</script>")[0]
    )
    assert (drawing["version"], len(drawing["nodes"]), len(drawing["links"])) == (2, 5, 5)
    assert drawing["links"][0] == {"a": 0, "b": 1, "delay_ms": 5.0, "jitter_ms": 0.0, "loss": 0.0}


def test_a_drawing_is_begun_from_what_is_generated(olga: Client) -> None:
    body = {"kind": "star", "name": "begun", "brokers": "5", "seed": "1", "do": "edit"}
    answer = olga.post("/topologies/new/", body)
    assert answer["Location"] == f"/topologies/{Topology.objects.get().pk}/edit/"


def test_how_a_topology_was_made_is_told_with_units(olga: Client, house: House) -> None:
    made = olga.get(f"/topologies/{house.topologies['Ring of 10'].id}/").content.decode()
    assert "<dt>Delay</dt><dd>0.5 ms</dd>" in made
    assert "<dt>Delay spread</dt><dd>4.5 ms</dd>" in made


def test_versions_are_listed_with_who_and_why_and_one_is_restored(olga: Client, ring: Topology) -> None:
    page = olga.get(f"/topologies/{ring.pk}/versions/").content.decode()
    assert page.index("Version 2") < page.index("Version 1")
    assert "one broker less" in page
    first = olga.get(f"/topologies/{ring.pk}/versions/1/").content.decode()
    assert "6 brokers" in first
    assert "Restore as version 3" in first
    olga.post(f"/topologies/{ring.pk}/versions/1/restore/")
    ring.refresh_from_db()
    assert (ring.version, ring.kind, ring.brokers) == (3, "ring", 6)


def test_a_difference_is_said_in_words_and_drawn(olga: Client, ring: Topology) -> None:
    page = olga.get(f"/topologies/{ring.pk}/difference/").content.decode()
    for change, what in (
        ("removed", "broker 2"),
        ("added", "link 1 – 3"),
        ("removed", "link 1 – 2"),
        ("changed", "link 0 – 1"),
    ):
        assert f'change-{change}">{change}</span></td><td data-label="Item">{what}</td>' in page
    picture = json.loads(page.split('id="graph-data" type="application/json">')[1].split("</script>")[0])
    assert [node["change"] for node in picture["nodes"] if "change" in node] == ["removed"]
    assert sorted(link.get("change", "") for link in picture["links"]) == [
        "",
        "",
        "",
        "added",
        "changed",
        "removed",
        "removed",
    ]
    assert "are identical" in olga.get(f"/topologies/{ring.pk}/difference/?from=2&to=2").content.decode()
    assert olga.get(f"/topologies/{ring.pk}/difference/?from=7&to=2").status_code == 404


def test_the_list_shows_a_sketch_and_who_uses_a_topology(olga: Client, house: House) -> None:
    page = olga.get("/topologies/?q=Ring of 10").content.decode()
    assert page.count('<path d="M') == 1
    assert "1 experiment, 1 network" in page
    assert "Delete<span" not in page  # a network is deployed from it
    ring = house.topologies["Ring of 10"]
    assert "1 experiment, 3 runs, 1 network" in olga.get(f"/topologies/{ring.pk}/").content.decode()


def test_a_run_leads_to_the_version_that_it_used(olga: Client, house: House) -> None:
    run = house.runs["done"]
    used = run.configuration["topology"]
    topologies.update(Topology.objects.get(pk=used["id"]), name="renamed", seed=99)
    page = olga.get(f"/runs/{run.pk}/").content.decode()
    address = f"/topologies/{used['id']}/versions/1/"
    assert f'<a href="{address}">Version 1</a>' in page
    shown = olga.get(address).content.decode()
    assert "renamed, version 1" in shown
    assert re.search(r"\d runs used this version", shown)


@pytest.mark.parametrize(
    ("kind", "brokers", "drawn"),
    [
        ("central", 1, "M36 24m-2 0a2 2 0 1 0 4 0a2 2 0 1 0-4 0"),
        ("line", 3, "M4 24L36 24M36 24L68 24"),
        ("ring", 4, "M36 4L56 24M36 4L16 24M56 24L36 44M36 44L16 24"),
    ],
)
def test_a_sketch_fills_its_box_whatever_the_shape(kind: str, brokers: int, drawn: str) -> None:
    assert pictures.sketch(generate(kind, brokers, {})) == drawn


def test_a_copy_is_made_and_opened(olga: Client, ring: Topology) -> None:
    answer = olga.post(f"/topologies/{ring.pk}/clone/")
    copy = Topology.objects.get(name="ring, copy")
    assert answer["Location"] == f"/topologies/{copy.pk}/"
    assert copy.measures == ring.measures


def test_viewers_see_versions_and_change_nothing(viktor: Client, ring: Topology) -> None:
    for path in ("", "versions/", "versions/1/", "difference/", "export.csv"):
        assert viktor.get(f"/topologies/{ring.pk}/{path}").status_code == 200, path
    assert "Restore" not in viktor.get(f"/topologies/{ring.pk}/versions/").content.decode()
    assert viktor.get(f"/topologies/{ring.pk}/edit/").status_code == 403
    assert viktor.post(f"/topologies/{ring.pk}/versions/1/restore/").status_code == 403


# --- files ---


def test_a_pasted_edge_list_is_a_topology_and_its_export_too(olga: Client) -> None:
    answer = olga.post("/topologies/import/", {"name": "pasted", "text": "a,b,delay_ms\nquay,crane,2\ncrane,gate,3\n"})
    pasted = Topology.objects.get(name="pasted")
    assert answer["Location"] == f"/topologies/{pasted.pk}/"
    assert [node.name for node in pasted.nodes.all()] == ["quay", "crane", "gate"]
    text = olga.get(f"/topologies/{pasted.pk}/export.csv").content
    olga.post("/topologies/import/", {"name": "again", "file": SimpleUploadedFile("again.csv", text)})
    again = Topology.objects.get(name="again")
    assert [str(link) for link in again.links.all()] == [str(link) for link in pasted.links.all()]


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({}, "Select a file, or paste its text."),
        ({"text": "0,1\n1,1\n"}, "Line 2: joins a broker to itself."),
        ({"text": "<graphml><graph>"}, "Is not XML: no element found: line 1"),
        ({"text": '{"nodes": [{"id": 0}], "edges": [{"source": 0, "target": 7}]}'}, "Edges[0].target: "),
        ({"name": "", "text": "0,1"}, "Must be 1 to 100 printable characters"),
    ],
)
def test_what_is_wrong_with_a_document_stands_beside_it_and_what_was_pasted_stays(
    olga: Client, sent: dict[str, str], told: str
) -> None:
    answer = olga.post("/topologies/import/", {"name": "wrong", **sent})
    page = answer.content.decode().replace("&#x27;", "'")
    assert answer.status_code == 400
    assert told in page
    assert 'aria-invalid="true"' in page
    assert sent.get("text", "").split("\n")[0].replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;") in page
    assert not Topology.objects.exists()


def test_an_upload_of_fifty_megabytes_is_refused_with_a_sentence(olga: Client) -> None:
    answer = olga.post(
        "/topologies/import/", {"name": "huge", "file": SimpleUploadedFile("huge.csv", b"0,1\n" * 12_500_000)}
    )
    assert answer.status_code == 400
    assert "Has 50.0 MB; the limit is 5 MB." in answer.content.decode()
    assert 'value="huge"' in answer.content.decode()


# --- disconnected topologies ---

ISLANDS = "0,1\n1,2\nharbour\n"
APART = "has 2 components (3 brokers; broker harbour without links)"
NEVER = "requests in one component never find data in another"


@pytest.fixture
def islands(olga: Client) -> Topology:
    """An imported line of three brokers, and a broker without links."""
    olga.post("/topologies/import/", {"name": "islands", "text": ISLANDS})
    return Topology.objects.get(name="islands")


def test_a_disconnected_topology_is_warned_of_on_every_page(olga: Client, viktor: Client, islands: Topology) -> None:
    imported = olga.get(f"/topologies/{islands.pk}/").content.decode()
    assert "Imported 4 brokers and 2 links, 2 components." in imported
    for path in ("", "versions/1/", "difference/"):
        page = viktor.get(f"/topologies/{islands.pk}/{path}").content.decode()
        assert f"It {APART}: {NEVER}. Link the components, or launch it as it is" in page, path
    drawn = {"kind": "custom", "name": "again", "brokers": "4", "seed": "0", "links": "0 1\n1 2\n"}
    assert "(3 brokers; broker 3 without links)" in olga.post("/topologies/preview/", drawn).content.decode()
    whole = olga.post("/topologies/preview/", {**drawn, "links": "0 1\n1 2\n2 3\n"}).content.decode()
    assert NEVER not in whole


def test_a_disconnected_topology_can_be_launched_after_a_warning(olga: Client, islands: Topology) -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    body = {"name": "crossing", "topology": [ring.pk, islands.pk], "replicates": 1}
    body |= {"workload": {"duration_s": 60.0}}
    before = olga.post("/api/experiments/estimate/", body, content_type="application/json")
    assert f"the topology islands {APART}: {NEVER}. Link the components first" in before.json()["warning"]
    made = olga.post("/api/experiments/", body, content_type="application/json").json()
    page = olga.get(f"/experiments/{made['id']}/").content.decode()
    assert f"The topology islands {APART}" in page
    assert olga.post(f"/experiments/{made['id']}/launch/").status_code == 302
    alone, crossing = sorted(Run.objects.all(), key=lambda run: run.configuration["topology"]["name"] == "islands")
    assert f"The overlay {APART}: {NEVER}. Link the components in" in olga.get(f"/runs/{crossing.pk}/").content.decode()
    assert NEVER not in olga.get(f"/runs/{alone.pk}/").content.decode()


def test_a_network_of_parts_is_warned_of_as_it_is_chosen(olga: Client, islands: Topology) -> None:
    page = olga.get(f"/networks/new/?topology={islands.pk}").content.decode()
    assert "islands (4 brokers, 2 components)" in page
    assert 'hx-get="/topologies/apart/"' in page
    assert f"It {APART}" in olga.get("/topologies/apart/", {"topology": islands.pk}).content.decode()
    assert olga.get("/topologies/apart/", {"topology": ""}).content.decode().strip() == ""
    deployed = olga.post("/networks/new/", {"name": "ferry", "topology": islands.pk})["Location"]
    assert f"The overlay {APART}: {NEVER}" in olga.get(deployed).content.decode()


@pytest.mark.parametrize(
    ("brokers", "links", "said"),
    [
        (4, [Link(0, 1), Link(2, 3)], "2 components (2 and 2 brokers)"),
        (3, [], "3 components (brokers 0, 1 and 2 without links)"),
        (9, [Link(0, 1)], "8 components (2 brokers; brokers 2, 3, 4, 5, 6 and 2 more without links)"),
        (3, [Link(0, 1), Link(1, 2, loss=1.0)], "2 components, as the links between them lose every datagram ("),
        (4, [Link(0, 1), Link(1, 2, loss=0.9), Link(2, 3)], ""),
        (3, [Link(0, 1), Link(1, 2), Link(0, 2, loss=1.0)], ""),
        (1, [], ""),
    ],
)
def test_parts_are_counted_and_named(brokers: int, links: list[Link], said: str) -> None:
    found = parts.sentence(Graph(brokers, tuple(links)))
    assert found.startswith(f"It has {said}") if said else not found


def test_parts_are_as_many_as_are_measured() -> None:
    for seed in range(60):
        graph = generate("custom", 12, {}, 0, [list(pair) for pair in {(seed * i % 11, 11) for i in range(seed % 9)}])
        found = parts.of_graph(graph)
        assert (len(found.sizes) if found else 1) == measures(graph)["components"]
        assert sum(found.sizes if found else (12,)) == 12


def test_rows_that_make_no_topology_are_shown_with_what_is_wrong(olga: Client, ring: Topology) -> None:
    ring.nodes.filter(index=2).delete()
    topologies.remeasure(ring)
    page = olga.get(f"/topologies/{ring.pk}/")
    assert page.status_code == 200
    assert "missing: [2]" in page.content.decode()
    assert olga.get(f"/topologies/{ring.pk}/edit/").status_code == 200


# --- how far walks go ---


def test_everybody_sees_how_far_walks_go_and_which_links_would_help(viktor: Client, ring: Topology) -> None:
    page = viktor.get(f"/topologies/{ring.pk}/").content.decode()
    assert f'hx-get="/topologies/{ring.pk}/walks/"' in page
    assert 'hx-trigger="load, submit"' in page
    found = studio.examine(topologies.to_graph(ring), "uniform")["walk"]
    walked = viktor.get(f"/topologies/{ring.pk}/walks/?policy=uniform").content.decode()
    assert f"<strong>{sig3(found['hops'])} ± {sig3(found['margin'])}</strong>" in walked
    assert 'Bridges (links whose failure disconnects the topology): <span class="nowrap">2 – 3</span>' in walked
    round_trip = topologies.create(name="round", kind="ring", brokers=4)
    walked = viktor.get(f"/topologies/{round_trip.pk}/walks/").content.decode()
    assert "No bridges: the failure of one link does not disconnect it." in walked
    [link] = studio.advise(topologies.to_graph(ring), 1, "walk")["links"]
    advised = viktor.get(f"/topologies/{ring.pk}/advised/?k=1").content.decode()
    assert f"<strong>{link['a']} – {link['b']}</strong>" in advised
    assert f"{sig3(link['before'])} → {sig3(link['after'])} hops" in advised
    assert "/edit/" not in advised


def test_advice_joins_parts_by_the_names_of_their_brokers(olga: Client, islands: Topology) -> None:
    advised = olga.get(f"/topologies/{islands.pk}/advised/?k=2").content.decode()
    assert "<strong>harbour – 1</strong>: connects the last two components" in advised
    assert f"/topologies/{islands.pk}/edit/" in advised
    walked = olga.get(f"/topologies/{islands.pk}/walks/").content.decode()
    assert "Each component is a tree: the failure of any link disconnects it further." in walked


def test_advice_on_a_large_topology_is_worked_out_when_asked_and_its_limits_are_told(olga: Client) -> None:
    large = topologies.create(name="large", kind="ring", brokers=walk_views.AT_ONCE + 1)
    page = olga.get(f"/topologies/{large.pk}/").content.decode()
    assert 'hx-trigger="submit"' in page
    assert "it starts on demand" in page
    assert "hops, " in olga.get(f"/topologies/{large.pk}/advised/?k=1").content.decode()
    paths = olga.get(f"/topologies/{large.pk}/advised/?goal=path").content.decode()
    assert "computed for up to 150 brokers; this topology has 151" in paths
    for asked, told in (("k=0", "from 1 to 10"), ("k=many", "from 1 to 10"), ("goal=fame", "must be one of")):
        assert told in olga.get(f"/topologies/{large.pk}/advised/?{asked}").content.decode(), asked
    assert "must be one of" in olga.get(f"/topologies/{large.pk}/walks/?policy=teleport").content.decode()


def test_advice_that_is_worked_out_for_somebody_else_says_so(
    olga: Client, ring: Topology, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio, "ADVICE_WAIT_S", 0.01)
    with studio._advising:
        assert "Try again in a moment" in olga.get(f"/topologies/{ring.pk}/advised/").content.decode()
