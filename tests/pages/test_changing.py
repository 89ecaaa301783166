"""What forms do with right and wrong input."""

from __future__ import annotations

import re
from html import unescape

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from brokerweb.accounts.models import Token
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.networks.models import Network
from brokerweb.reports.models import Report
from brokerweb.topologies import services as topologies
from brokerweb.topologies.models import Topology
from tests.pages.furniture import House


def test_a_waxman_topology_is_previewed_and_saved(olga: Client) -> None:
    body = {"kind": "waxman", "name": "mine", "brokers": "12", "seed": "5", "param-mean_degree": "2"}
    preview = olga.post("/topologies/preview/", body).content.decode()
    assert "preview-data" in preview
    assert "Mean degree" in preview
    assert not Topology.objects.exists()
    answer = olga.post("/topologies/new/", body)
    topology = Topology.objects.get(name="mine")
    assert answer["Location"] == f"/topologies/{topology.id}/"
    assert topology.measures["mean_degree"] == 2
    assert topology.links.count() == 12


def test_each_wrong_field_of_a_topology_has_its_sentence_and_nothing_is_saved(olga: Client) -> None:
    right = {"kind": "waxman", "name": "mine", "brokers": "12", "seed": "5"}
    for wrong, sentence in (
        ({"name": ""}, "1 to 100 printable characters"),
        ({"brokers": "many"}, "must be a whole number"),
        ({"brokers": "100000"}, "to 1000 brokers"),
        ({"seed": "-1"}, "must be a whole number"),
        ({"param-loss": "2"}, "at most 1"),
        ({"param-link_probability": "often"}, "must be a number"),
        ({"kind": "moebius"}, "Unknown kind of topology"),
    ):
        answer = olga.post("/topologies/new/", {**right, **wrong})
        assert answer.status_code == 400, wrong
        assert sentence in answer.content.decode(), wrong
    assert not Topology.objects.exists()


def test_links_of_one_s_own_are_read_line_by_line(olga: Client) -> None:
    body = {"kind": "custom", "name": "mine", "brokers": "3", "seed": "0", "links": "0 1\n1, 2\n"}
    assert olga.post("/topologies/new/", body).status_code == 302
    assert [(link.a, link.b) for link in Topology.objects.get().links.all()] == [(0, 1), (1, 2)]
    wrong = olga.post("/topologies/new/", {**body, "name": "other", "links": "0 1\nnonsense"})
    assert "line 2 does not have two broker numbers" in wrong.content.decode()


def test_a_topology_goes_out_as_a_file_and_comes_in_again(olga: Client) -> None:
    topology = topologies.create(name="ring", kind="ring", brokers=5, params={"delay_ms": 2.0})
    for form in ("graphml", "json"):
        text = olga.get(f"/topologies/{topology.id}/export.{form}").content
        file = SimpleUploadedFile(f"ring.{form}", text)
        answer = olga.post("/topologies/import/", {"name": f"again, {form}", "file": file})
        again = Topology.objects.get(name=f"again, {form}")
        assert answer["Location"] == f"/topologies/{again.id}/"
        assert [(link.a, link.b, link.delay_ms) for link in again.links.all()] == [
            (link.a, link.b, link.delay_ms) for link in topology.links.all()
        ]


def test_a_file_that_is_no_topology_is_refused_by_name(olga: Client) -> None:
    file = SimpleUploadedFile("wrong.json", b'{"brokers": 3, "links": [[0, 9]]}')
    answer = olga.post("/topologies/import/", {"name": "wrong", "file": file})
    assert answer.status_code == 400
    assert not Topology.objects.exists()


def sweep(topology: Topology, **more: str) -> dict[str, str | list[str]]:
    return {
        "system": "context-broker",
        "name": "A sweep",
        "topology": topology.id,
        "replicates": "3",
        "seed": "1",
        "workload-providers": "5",
        "workload-consumers": "10, 20, 30",
        "workload-duration_s": "5",
        **more,
    }


def test_the_launch_button_counts_the_runs_of_a_sweep_and_then_makes_them(olga: Client) -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    button = olga.post("/experiments/estimate/", sweep(ring)).content.decode()
    assert "Launch 9 runs, about" in button
    assert "3 consumers" in button
    assert not Experiment.objects.exists()
    answer = olga.post("/experiments/new/", {**sweep(ring), "do": "launch"})
    experiment = Experiment.objects.get()
    assert answer["Location"] == f"/experiments/{experiment.id}/"
    assert experiment.runs.count() == 9
    assert "0 of 9 runs" in olga.get(answer["Location"]).content.decode()


def test_what_says_how_brokers_come_and_go_stands_together_and_opens_when_it_is_chosen(olga: Client) -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    assert '<details class="more section"><summary>' in olga.get("/experiments/new/").content.decode()
    churn = {"workload-churn": ["none", "file"], "workload-churn_schedule": "1 1 crash; 2 1 up"}
    olga.post("/experiments/new/", {**sweep(ring), **churn, "do": "save"})
    experiment = Experiment.objects.get()
    assert experiment.definition["workload"]["churn"] == ["none", "file"]
    page = olga.get(f"/experiments/new/?from={experiment.id}").content.decode()
    assert '<details class="more section" open>' in page
    assert 'value="1 1 crash; 2 1 up"' in page
    wrong = olga.post(
        "/experiments/new/", {**sweep(ring), **churn, "workload-churn_schedule": "1 9 crash", "do": "save"}
    )
    assert wrong.status_code == 400
    assert "the broker must be a whole number from 0 to 3, not 9" in wrong.content.decode()


def test_saving_makes_no_runs_and_new_from_this_shows_the_same(olga: Client) -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    olga.post("/experiments/new/", {**sweep(ring), "do": "save"})
    experiment = Experiment.objects.get()
    assert not Run.objects.exists()
    page = olga.get(f"/experiments/new/?from={experiment.id}").content.decode()
    assert 'value="10, 20, 30"' in page
    assert "Launch 9 runs" in page


def test_each_wrong_field_of_an_experiment_has_its_sentence_and_nothing_is_made(olga: Client) -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    for wrong, sentence in (
        ({"name": ""}, "1 to 100 printable characters"),
        ({"topology": "nowhere"}, "there is no topology with the id"),
        ({"topology": []}, "select at least one"),
        ({"replicates": "0"}, "from 1 to"),
        ({"replicates": "few"}, "must be a whole number"),
        ({"workload-consumers": "10, none"}, "must be a whole number"),
        ({"workload-duration_s": "-4"}, "must be at least"),
        ({"workload-popularity": "fame"}, "must be one of uniform, zipf"),
    ):
        answer = olga.post("/experiments/new/", {**sweep(ring), "do": "launch", **wrong})
        assert answer.status_code == 400, wrong
        assert sentence in answer.content.decode(), wrong
    assert not Experiment.objects.exists()


def test_a_run_is_cancelled_and_run_again_exactly(olga: Client, house: House) -> None:
    olga.post(f"/runs/{house.runs['queued'].id}/cancel/")
    house.runs["queued"].refresh_from_db()
    assert house.runs["queued"].state == RunState.CANCELLED
    answer = olga.post(f"/runs/{house.runs['done'].id}/rerun/")
    again = Run.objects.get(rerun_of=house.runs["done"])
    assert answer["Location"] == f"/runs/{again.id}/"
    assert (again.seed, again.configuration) == (house.runs["done"].seed, house.runs["done"].configuration)


def test_cancelling_an_experiment_ends_what_has_not_begun(olga: Client, house: House) -> None:
    olga.post(f"/experiments/{house.experiment.id}/cancel/")
    assert not house.experiment.runs.filter(state=RunState.QUEUED).exists()
    assert Run.objects.get(pk=house.runs["measuring"].pk).cancel_requested


def test_a_network_is_deployed_stopped_and_started(olga: Client) -> None:
    ring = topologies.create(name="ring", kind="ring", brokers=4)
    assert olga.post("/networks/new/", {"name": "campus", "topology": ""}).status_code == 400
    olga.post("/networks/new/", {"name": "campus", "topology": ring.id, "settings-walk_ttl": "9"})
    network = Network.objects.get()
    assert network.settings["walk_ttl"] == 9
    olga.post(f"/networks/{network.id}/stop/")
    network.refresh_from_db()
    assert network.desired == "stopped"
    answer = olga.post(f"/networks/{network.id}/context/", {"type": "room", "entity": "a", "scope": "b", "do": "ask"})
    assert "cannot be queried" in answer.content.decode()


def test_a_report_needs_something_to_compare(olga: Client, house: House) -> None:
    before = Report.objects.count()
    assert "needs runs or experiments" in olga.post("/reports/create/").content.decode()
    assert Report.objects.count() == before
    answer = olga.post("/reports/create/", {"runs": [house.runs["done"].id]})
    assert answer["Location"].startswith("/reports/")
    assert Report.objects.count() == before + 1


def test_a_token_is_shown_once_and_opens_the_api_until_it_is_revoked(olga: Client, operator: User) -> None:
    page = olga.post("/account/tokens/", {"name": "script", "scope": "read"})
    token = page.context["fresh"]
    assert token in page.content.decode()
    assert token not in olga.get("/account/").content.decode()
    header = {"Authorization": f"Bearer {token}"}
    assert Client().get("/api/topologies/", headers=header).status_code == 200
    assert Client().post("/api/topologies/", headers=header).status_code == 403
    olga.post(f"/account/tokens/{Token.objects.get().id}/revoke/")
    assert Client().get("/api/topologies/", headers=header).status_code == 401


def test_a_wrong_password_is_told_from_a_right_one(client: Client, operator: User) -> None:
    wrong = client.post("/login/", {"username": "olga", "password": "guess"})
    assert "enter a correct username and password" in wrong.content.decode()
    assert client.post("/login/", {"username": "olga", "password": "correct horse"})["Location"] == "/"


def error_of(page: str, field: str) -> str:
    """The sentence that a form says of a field, and that a screen reader reads with it."""
    tag = re.search(rf'<(?:input|select|textarea)[^>]* id="{field}"[^>]*>', page)
    assert tag is not None
    assert 'aria-invalid="true"' in tag[0], tag[0]
    assert f"{field}-wrong" in re.findall(r'aria-describedby="([^"]*)"', tag[0])[0].split()
    return unescape(page.split(f'id="{field}-wrong" role="alert">')[1].split("</p>")[0])


def test_every_wrong_field_of_a_topology_has_its_sentence_beside_it_and_keeps_what_was_typed(olga: Client) -> None:
    sent = {"kind": "custom", "name": "n" * 101, "brokers": "ten", "seed": "-1", "links": "0 1\nzero one"}
    answer = olga.post("/topologies/new/", {**sent, "param-loss": "2"})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert error_of(page, "name") == "Must be 1 to 100 printable characters."
    assert error_of(page, "brokers") == "Must be a whole number, not 'ten'."
    assert error_of(page, "seed") == "Must be a whole number, not '-1'."
    assert error_of(page, "links") == "Line 2 does not have two broker numbers: 'zero one'."
    assert "at most 1" in error_of(page, "param-loss")
    assert 'class="note note-error" role="alert"' not in page
    for typed in sent.values():
        assert typed in page
    assert 'value="2"' in page
    right = olga.get("/topologies/new/?kind=custom").content.decode()
    assert "aria-invalid" not in right


def test_what_the_generator_refuses_stands_beside_the_field_that_it_is_about(olga: Client) -> None:
    sent = {"kind": "ring", "name": "taken", "brokers": "2", "seed": "1"}
    assert "3" in error_of(olga.post("/topologies/new/", sent).content.decode(), "brokers")
    topologies.create(name="taken", kind="ring", brokers=3)
    page = olga.post("/topologies/new/", {**sent, "brokers": "5"}).content.decode()
    assert error_of(page, "name") == "'taken' is taken by another topology."
    assert "preview-data" in page  # the drawing is not wrong
    mesh = olga.post("/topologies/new/", {**sent, "kind": "full-mesh", "name": "mesh", "brokers": "1000"})
    assert "more than the limit" in mesh.content.decode().split('class="note note-error" role="alert"')[1]


def test_each_wrong_field_of_a_network_has_its_sentence_beside_it(olga: Client, house: House) -> None:
    topology = next(iter(house.topologies.values()))
    sent = {"name": "harbour", "topology": topology.pk}
    page = olga.post("/networks/new/", {**sent, "name": ""}).content.decode()
    assert error_of(page, "name") == "Must be 1 to 100 printable characters."
    page = olga.post("/networks/new/", {**sent, "topology": "gone"}).content.decode()
    assert error_of(page, "topology") == "Select a topology."
    assert 'value="harbour"' in page
    page = olga.post("/networks/new/", {**sent, "settings-walk_ttl": "never"}).content.decode()
    assert "must be a whole number" in error_of(page, "settings-walk_ttl").lower()
    assert 'class="note note-error"' not in page


def test_a_report_of_nothing_is_refused_beside_what_it_is_made_of(olga: Client, house: House) -> None:
    answer = olga.post("/reports/create/", {})
    page = answer.content.decode()
    assert answer.status_code == 400
    assert 'aria-describedby="runs-wrong"' in page
    assert 'id="runs-wrong" role="alert">A report needs runs or experiments.</p>' in page
    assert 'aria-invalid="true"' in page
    waiting = house.runs["queued"]
    refused = olga.post("/reports/create/", {"runs": [waiting.pk], "experiments": [waiting.experiment_id]})
    assert "Only finished runs can be compared" in refused.content.decode()
    assert f'value="{waiting.experiment_id}" checked' in refused.content.decode()
