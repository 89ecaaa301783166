"""The wire lab's pages: a datagram pasted, composed, found among a run's recorded ones, and taken to Wireshark."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from brokerweb.experiments.models import Run
from brokerweb.systems.context_broker.wirelab import recorded
from telemetry.lake import pcapng
from telemetry.lake.datagrams import Choice
from tests.pages.recorded import make_run
from tests.telemetry.test_pcapng import read

REQUEST = b"3|1795338000000|room|r1|temp"


def text_of(page: str) -> str:
    """The visible text, in one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())


def fields_of(page: str) -> list[tuple[str, int, int]]:
    """Name, offset and length of each row of the table of fields."""
    found = re.findall(r'aria-hidden="true"></span>([^<]+)</button></td><td [^>]+>(\d+)</td><td [^>]+>(\d+)</td>', page)
    return [(name, int(offset), int(length)) for name, offset, length in found]


def test_an_empty_lab_says_what_to_do_and_lists_every_message(viktor: Client) -> None:
    page = viktor.get("/wire/").content.decode()
    assert "No datagram yet" in page
    assert "Sending datagrams to live brokers needs the operator role." in page
    links = re.findall(r'href="(/wire/\?d=[0-9a-f]+)">(\w+)</a>', page)
    assert len(links) == 34
    for link, name in links[::7]:
        opened = text_of(viktor.get(link).content.decode())
        assert f" {name} " in opened
        assert "Wrong:" not in opened


def test_a_pasted_datagram_is_at_an_address_of_its_own(viktor: Client) -> None:
    made = viktor.post("/wire/", {"text": REQUEST.hex(" "), "form": ""})
    assert (made.status_code, made.url) == (302, f"/wire/?d={REQUEST.hex()}")
    page = viktor.get(made.url).content.decode()
    assert fields_of(page) == [
        ("MessageType", 0, 1),
        ("Timestamp", 2, 13),
        ("EntityType", 16, 4),
        ("EntityID", 21, 2),
        ("Scope", 24, 4),
    ]
    told = text_of(page)
    assert "3 ContextRequest 28 bytes" in told
    assert "22 Nov 2026 09:00:00.000 UTC" in told
    assert "accepted A broker accepts it." in told
    assert "Sending datagrams to live brokers needs the operator role." in told


def test_what_is_typed_is_followed_and_a_mistake_has_a_sentence(viktor: Client) -> None:
    part = viktor.post("/wire/decoded/", {"text": "3|5|room", "form": ""}).content.decode()
    assert "<html" not in part
    assert "EntityID Missing" not in part
    assert "Missing: the datagram ends before this field" in part
    assert "NACK 301 BAD_REQUEST for ContextRequest" in part
    part = viktor.post("/wire/decoded/", {"text": "33 7c 3", "form": ""}).content.decode()
    assert '<p class="wrong" id="wire-wrong" role="alert" hx-swap-oob="true">Has 5 hexadecimal digits, an odd' in part
    whole = viktor.post("/wire/", {"text": "33 7c 3", "form": ""})
    assert whole.status_code == 400
    assert "is half a byte" in whole.content.decode()
    assert ">33 7c 3</textarea>" in whole.content.decode()
    for link, sentence in (("/wire/?d=3", "an odd number"), ("/wire/?d=xy", "is not a hexadecimal digit")):
        assert sentence in viktor.get(link).content.decode()


def test_a_file_is_taken_apart_and_one_that_is_none_is_refused(viktor: Client) -> None:
    def sent(data: bytes) -> tuple[int, str]:
        answer = viktor.post("/wire/", {"file": SimpleUploadedFile("datagram.bin", data)})
        return answer.status_code, answer.url if answer.status_code == 302 else answer.content.decode()

    assert sent(REQUEST) == (302, f"/wire/?d={REQUEST.hex()}")
    status, page = sent(b"2|5|60000|A|p|t|i|s|1|2|" + b"x" * 60_000)
    assert status == 200
    assert "Too long for a link" in page
    assert "bytes omitted" in page
    assert len(page) < 600_000
    assert [status for status, page in (sent(b"x" * 65_537), sent(b""))] == [400, 400]
    assert "has 65,537 bytes" in sent(b"x" * 65_537)[1].lower()


def test_an_uploaded_capture_is_listed_and_its_messages_open(viktor: Client) -> None:
    ends = ("10.0.0.1", 7000), ("10.0.0.2", 7001)
    packets = [pcapng.packet(at, *ends, data, pcapng.INBOUND) for at, data in ((0, REQUEST), (9000, b"noise"))]
    whole = pcapng.section("", "") + pcapng.interface("i") + b"".join(packets)
    page = viktor.post("/wire/", {"file": SimpleUploadedFile("a.pcapng", whole)}).content.decode()
    assert f'<a href="/wire/?d={REQUEST.hex()}">0</a>' in page
    told = text_of(page)
    assert "1 message; times are relative to the first. 1 other UDP datagram omitted." in told
    assert "10.0.0.1:7000 10.0.0.2:7001 request" in told
    for data, sentence in (
        (whole[:-2], "where"),
        (b"\xd4\xc3\xb2\xa1", "is a pcap file"),
        (whole + bytes(4_000_000), "at most"),
    ):
        answer = viktor.post("/wire/", {"file": SimpleUploadedFile("a.pcapng", data)})
        assert (answer.status_code, sentence in answer.content.decode().lower()) == (400, True)


def test_conversations_are_drawn_and_each_datagram_opens(viktor: Client) -> None:
    page = viktor.get("/wire/conversations/").content.decode()
    assert "A request is answered over three brokers" in page
    assert "│────── 3 ───────&gt;│" in page
    assert len(re.findall(r'href="/wire/\?d=[0-9a-f]+"', page)) > 40


def test_what_does_not_print_is_spelled_out(viktor: Client) -> None:
    odd = "3|5|a\0\u202eb|<b>|c".encode()
    page = viktor.get(f"/wire/?d={odd.hex()}").content.decode()
    assert "<code>a\\u0000\\u202eb</code>" in page
    assert "<code>&lt;b&gt;</code>" in page


def test_a_message_is_composed_by_its_fields_and_its_address_holds_them(viktor: Client) -> None:
    page = viktor.get("/wire/compose/?code=2&payload=degC%3D9&flag=Q").content.decode()
    assert 'name="flag" value="Q"' in page
    assert ">degC=9</textarea>" in page
    told = text_of(page)
    assert "2 ContextUpdateAdvertisement" in told
    assert "'Q' is not the flag A or U" in told
    part = viktor.post("/wire/composed/", {"code": "3", "entity_id": "r7", "timestamp": "5"}).content.decode()
    assert ">3|5|room|r7|temp</code>" in part
    for link, sentence in (
        ("/wire/compose/?code=99", "no message has the code 99"),
        ("/wire/compose/?code=x", "must be a whole number"),
        ("/wire/compose/?code=3&colour=red", "ContextRequest has no such field"),
    ):
        answer = viktor.get(link)
        assert (answer.status_code, sentence in answer.content.decode()) == (400, True), link


def test_nothing_is_sent_by_who_may_only_look_or_to_where_nobody_is(viktor: Client, olga: Client) -> None:
    assert viktor.post("/wire/send/", {"to": "network:x", "broker": "0", "datagram": REQUEST.hex()}).status_code == 403
    assert "No reachable broker is running." in olga.get(f"/wire/?d={REQUEST.hex()}").content.decode()
    for to, sentence in (("network:none", "there is no network"), ("127.0.0.1:53", "must be a network or a run")):
        answer = olga.post("/wire/send/", {"to": to, "broker": "0", "datagram": REQUEST.hex()}).content.decode()
        assert sentence in answer
        assert "Nothing was sent" in answer


@pytest.fixture
def run(operator: User, var: Path) -> Run:
    return make_run(operator)


def test_recorded_messages_are_chosen_opened_and_taken_to_wireshark(viktor: Client, run: Run) -> None:
    assert f"/wire/messages/?run={run.id}" in viktor.get("/wire/messages/").content.decode()
    here = f"/wire/messages/?run={run.id}"
    assert viktor.get(f"/wire/?run={run.id}&from_us=0").url == f"{here}&from_us=0"
    page = viktor.get(f"{here}&code=4&broker=2").content.decode()
    rows = re.findall(r'data-label="From">(client|broker \d)</td>.*?data-label="To">(client|broker \d)</td>', page)
    assert rows
    assert all("broker 2" in row for row in rows)
    count, _ = re.search(r">([\d\u202f]+) (messages?);", page).groups()  # type: ignore[union-attr]
    number = int(re.search(r"message=(\d+)", page)[1])  # type: ignore[index]
    opened = text_of(viktor.get(f"{here}&message={number}").content.decode())
    assert "4 ContextResponse" in opened
    assert "simulated" in opened
    link = unescape(re.search(r'href="(/runs/[^"]+\.pcapng[^"]*)"', page)[1])  # type: ignore[index]
    capture = viktor.get(link)
    assert capture["Content-Type"] == "application/x-pcapng"
    assert capture["Content-Disposition"].endswith(f'messages-{run.id}-simulated.pcapng"')
    told, packets = read(b"".join(capture.streaming_content))
    assert b"simulated in virtual time" in told[1]
    assert len(packets) == int(count.replace("\u202f", ""))
    assert all(packet.data.startswith(b"4|") for packet in packets)


def test_of_many_recorded_runs_the_newest_are_listed_and_a_filter_has_all_of_them(viktor: Client, run: Run) -> None:
    assert "show all" not in viktor.get("/wire/messages/").content.decode()
    same = {"experiment": run.experiment, "configuration": run.configuration, "seed": run.seed}
    Run.objects.bulk_create(Run(**same, position=position) for position in range(1, 30))
    page = viktor.get("/wire/messages/").content.decode()
    assert page.count("<tr data-row>") == 25
    (address,) = re.findall(r'<a href="([^"]+)">Latest 25 of 30; show all</a>', page)
    assert "30 runs" in text_of(viktor.get(address).content.decode())


def test_every_message_of_a_run_is_in_its_capture_and_reached_by_its_page(viktor: Client, run: Run) -> None:
    everything = viktor.get(f"/api/runs/{run.id}/messages/", {"page_size": 10_000}).json()
    packets = read(b"".join(viktor.get(f"/runs/{run.id}/messages.pcapng").streaming_content))[1]
    assert [len(packet.data) for packet in packets] == [row["bytes"] for row in everything["results"]]
    last = viktor.get(f"/wire/messages/?run={run.id}&page=99999").content.decode()
    pages = -(-everything["count"] // recorded.PAGE)
    assert f"Page {pages} of {pages}" in last
    assert f">{everything['count'] - 1}</a>" in last
    assert viktor.get(f"/wire/messages/?run={run.id}&message={everything['count']}").status_code == 404


def test_what_was_not_recorded_or_cannot_be_chosen_is_said(viktor: Client, run: Run) -> None:
    for name in ("code", "broker", "from_us", "to_us", "page", "message"):
        answer = viktor.get("/wire/messages/", {"run": run.id, name: "²"})
        assert (answer.status_code, "must be a whole number" in answer.content.decode()) == (400, True), name
    assert viktor.get(f"/runs/{run.id}/messages.pcapng?from_us=x").status_code == 400
    assert "No message matches this filter." in viktor.get(f"/wire/messages/?run={run.id}&code=33").content.decode()
    long = next(row for row in recorded.page(run, Choice(), 1, 1000).rows if row["bytes"] > 160)
    for path in recorded.files_of(run).journal_directory.glob("*.recording"):
        path.unlink()
    gone = viktor.get(f"/wire/messages/?run={run.id}&message={long['number']}")
    assert (gone.status_code, "recordings of this run were deleted" in gone.content.decode()) == (409, True)
    assert viktor.get(f"/runs/{run.id}/messages.pcapng").status_code == 404
    recorded.files_of(run).messages_path.unlink()
    assert "This run has no recorded messages" in viktor.get(f"/wire/messages/?run={run.id}").content.decode()
    assert viktor.get("/wire/messages/?run=none").status_code == 404


def test_the_dissector_is_there_to_be_downloaded(viktor: Client) -> None:
    page = viktor.get("/wire/wireshark/").content.decode()
    assert 'href="/static/wireshark/waxwing.lua" download' in page
    assert "all 34 messages" in page
    assert "data-toast" not in page


def test_a_stranger_sees_none_of_it(client: Client) -> None:
    for address in ("/wire/", "/wire/compose/", "/wire/messages/", "/wire/wireshark/", "/runs/x/messages.pcapng"):
        assert client.get(address).url.startswith("/login/"), address
