"""No source takes all of what a broker has for all: its table, its pending requests, its neighbours."""

import pytest

from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.broker.config import BrokerConfig
from tests.broker.transcript import NAMES, STRANGER, A, B, C, D, E, K, Talk, hop

OTHER_STRANGER = ("198.51.100.9", 4009)


@pytest.fixture(autouse=True)
def everybody_has_a_name(monkeypatch):
    """So that a transcript may hold any address."""

    class Names(dict):
        def __missing__(self, address):
            return format_address(address)

    monkeypatch.setattr("tests.broker.transcript.NAMES", Names(NAMES))


def advertise(talk, source, entity, provider="p", size=1):
    begin, end, payload = talk.wall - 1, talk.wall + 100_000, "x" * size
    return talk.hear(source, f"2|{talk.wall}|{size}|A|{provider}|room|{entity}|temp|{begin}|{end}|{payload}")


def stored(sent):
    return any("Status:102" in text for _, text in sent)


def refused(sent, status=201):
    return any(f"NACK|Status:{status}" in text for _, text in sent)


def asked(talk, source, name):
    """Ask for what is not here; to whom that was sent on."""
    return [to for to, text in talk.ask(f"room|{name}|temp", source=source) if text.startswith("3|")]


def answer(talk, source, request):
    """B's answer to a request that was sent on to it."""
    return f"4|1|1|p|{request.split('|', 2)[2].rsplit('|', 2)[0]}|1|{talk.wall * 2}|x{hop(source)}"


# ---- the table


def test_any_number_of_advertisements_of_one_stranger_leave_room_for_everybody_else():
    talk = Talk(table_entries=200)
    for number in range(600):
        advertise(talk, ("203.0.113.7", 1 + number), f"s{number}", provider=f"p{number}")
    assert talk.stats()["entries"] == 20, "a tenth, however many ports of its /24 it sends from"
    assert talk.stats()["over_share"] == 580
    assert talk.stats()["table_full"] == 0
    assert stored(advertise(talk, OTHER_STRANGER, "other", provider="x" * 90))
    assert all(
        stored(advertise(talk, ("10.0.1.1", 1000 + number), f"c{number}", f"c{number}")) for number in range(150)
    )


def test_forged_addresses_all_over_the_world_leave_half_of_the_table():
    talk = Talk(table_entries=200)
    for number in range(400):
        advertise(talk, (f"{11 + number % 200}.{number // 200}.0.1", 99), f"s{number}", provider=f"p{number}")
    assert talk.stats()["entries"] == 100
    assert all(stored(advertise(talk, C, f"c{number}")) for number in range(100))


def test_a_strangers_large_values_are_held_to_its_share_of_the_bytes():
    talk = Talk(table_bytes=100_000)
    for number in range(20):
        advertise(talk, STRANGER, f"s{number}", size=3_000)
    assert talk.stats()["entries"] == 3
    assert stored(advertise(talk, C, "c", size=50_000))


def test_neither_one_socket_nor_one_provider_fills_the_table():
    for source_of, provider_of in (
        (lambda number: C, lambda number: f"p{number}"),
        (lambda number: (C[0], 1000 + number), lambda number: "p"),
    ):
        talk = Talk(table_entries=50)
        for number in range(100):
            sent = advertise(talk, source_of(number), f"s{number}", provider_of(number))
        assert refused(sent)
        assert talk.stats()["entries"] == 45
        assert [event.detail() for event in talk.broker.events()] == [{"limit": "table share"}]
        assert stored(advertise(talk, D, "other", "other"))
        assert stored(advertise(talk, C, "s1", provider_of(1))), "what is there can be updated"


def test_a_fleet_of_clients_on_one_host_has_all_of_the_table():
    talk = Talk(table_entries=300)
    for number in range(300):
        assert stored(advertise(talk, ("10.0.1.1", 1000 + number), f"r{number}", f"p{number}"))
    assert refused(advertise(talk, C, "one-more"))
    assert talk.stats()["table_full"] == 1


def replicate(talk, number):
    """Have a replica left here on the way of an answer."""
    (sent,) = [text for to, text in talk.ask(f"room|r{number}|temp", source=C) if to == "B"]
    path = sent.split("|", 5)[5]
    return talk.hear(B, f"4|1|1|far|room|r{number}|temp|1|{talk.wall * 2}|x|{path}|*")


def test_replicas_make_room_for_what_providers_say_the_oldest_first():
    talk = Talk(B, table_entries=5)
    for number in range(6):
        replicate(talk, number)
    assert (talk.stats()["entries"], talk.stats()["replicas"]) == (5, 5), "none makes room for another replica"
    for number in range(2):
        assert stored(advertise(talk, C, f"own{number}"))
    assert (talk.stats()["entries"], talk.stats()["evicted"]) == (5, 2)
    found = [bool(talk.ask(f"room|{name}|temp")[1][1].startswith("4|")) for name in ("own0", "own1", "r0", "r1", "r2")]
    assert found == [True, True, False, False, True]
    replicate(talk, 7)
    assert talk.stats()["evicted"] == 2


def test_what_would_not_fit_even_so_evicts_nothing():
    talk = Talk(B, table_bytes=400)
    replicate(talk, 1)
    assert refused(advertise(talk, C, "large", size=500))
    assert (talk.stats()["entries"], talk.stats()["evicted"]) == (1, 0)


# ---- pending requests


def test_one_source_cannot_fill_the_pending_table():
    talk = Talk(B, pending_capacity=10)
    sent_on = [asked(talk, C, f"x{number}") for number in range(20)]
    assert sent_on == [["B"]] * 9 + [[]] * 11
    assert refused(talk.ask("room|x99|temp", source=C), 202)
    assert talk.stats()["over_share_requests"] == 12
    assert asked(talk, D, "other") == ["B"]


def test_one_source_cannot_fill_the_table_of_lookaheads_that_are_passed_on():
    talk = Talk(B, D, pending_capacity=10)
    sent = [talk.hear(D, f"16|5|5|room|x{number}|temp{hop(C)}") for number in range(20)]
    assert [len(one) for one in sent] == [1] * 9 + [0] * 11
    assert [to for to, _ in talk.hear(B, f"16|5|5|room|other|temp{hop(C)}")] == ["D"]


def test_an_answer_gives_back_the_share_and_so_does_the_deadline():
    talk = Talk(B, pending_capacity=2, source_share=50, pending_deadline_ms=1000)
    ((_, request),) = [pair for pair in talk.ask("room|x1|temp", source=C) if pair[0] == "B"]
    assert asked(talk, C, "x2") == []
    talk.hear(B, answer(talk, C, request))
    assert asked(talk, C, "x3") == ["B"]
    assert asked(talk, C, "x4") == []
    talk.wait(1001)
    assert asked(talk, C, "x5") == ["B"]


def test_strangers_have_a_tenth_of_the_pending_table_by_block_and_half_of_it_together():
    talk = Talk(B, pending_capacity=20)
    block = [("203.0.113.7", port) for port in range(1, 6)]
    assert [asked(talk, source, f"x{number}") for number, source in enumerate(block)] == [["B"]] * 2 + [[]] * 3
    world = [(f"{host}.0.0.1", 99) for host in range(11, 31)]
    assert sum(bool(asked(talk, source, f"y{source[0]}")) for source in world) == 8
    assert all(asked(talk, C, f"z{number}") for number in range(10))


@pytest.mark.parametrize("search", ["flood", "k-walkers", "lookahead", "expanding-ring"])
def test_every_search_is_held_to_the_share(search):
    talk = Talk(B, D, pending_capacity=40, source_share=50, search=search)
    for number in range(30):
        talk.ask(f"room|x{number}|temp", source=C)
    assert talk.stats()["over_share_requests"] + talk.stats()["not_found"] > 0
    assert any(name in "BD" for name, _ in talk.ask("room|x|temp", source=E))


# ---- neighbours


def test_forged_joins_cannot_fill_the_list_of_neighbours():
    talk = Talk(neighbour_capacity=20)
    for port in range(1, 41):
        talk.hear(("10.0.1.1", port), f"8|1|{format_address(A)}|*")
    assert len(talk.broker.neighbours) == 17
    assert talk.stats()["over_share_joins"] == 23
    talk.hear(B, f"8|1|{format_address(A)}|*")
    assert B in talk.broker.neighbours, "another host finds room"
    talk.hear(K, f"8|{talk.wall}|10.0.1.1:77")
    talk.hear(("10.0.1.1", 77), f"5|1|ACK|Status:101|Operation BrokerJoining|Requested by {format_address(A)}")
    assert ("10.0.1.1", 77) in talk.broker.neighbours, "whom we were told to join is let in"


def test_however_many_hosts_join_some_room_is_kept_for_whom_we_are_told_to_join():
    talk = Talk(neighbour_capacity=20)
    for host in range(1, 5):
        for port in range(1, 21):
            talk.hear((f"10.0.1.{host}", port), f"8|1|{format_address(A)}|*")
    assert len(talk.broker.neighbours) == 18
    talk.hear(K, f"8|{talk.wall}|{format_address(B)}")
    said = talk.hear(B, f"5|1|ACK|Status:101|Operation BrokerJoining|Requested by {format_address(A)}")
    assert B in talk.broker.neighbours
    assert [to for to, data in said if "Status:102" in data] == ["K"]


def test_a_thousand_brokers_of_one_host_join_as_ever():
    talk = Talk()
    for port in range(1, 1001):
        assert talk.hear(("10.0.1.1", port), f"8|1|{format_address(A)}|*")
    assert len(talk.broker.neighbours) == 1000


# ---- settings


@pytest.mark.parametrize("name", ["provider_share", "source_share", "stranger_share", "strangers_share"])
@pytest.mark.parametrize("value", [0, 101, 1.5])
def test_a_share_is_checked_when_it_is_built(name, value):
    with pytest.raises(InvalidSetting, match=name):
        BrokerConfig(**{name: value})
