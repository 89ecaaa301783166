"""How sessions begin, end, are replaced and move. Times are those of the contract, to the nanosecond."""

from __future__ import annotations

import pytest

from overlay.channel import Back, Channel, ChannelSettings, Down, Message, Moved, Quiet, Up, wire
from overlay.core.node import SECOND
from tests.channel.lossy import World
from tests.channel.scripted import B0, B1, MS, A, B, Pair, Scripted, session_of

OTHER = ("203.0.113.7", 9)
NEVER_GIVES_UP = ChannelSettings(give_up_s=0, probe_s=0)


def kinds(datagrams):
    return [data[1] for data, *_ in datagrams]


def until_silent(channel, now, most=10**12):
    """Run the timers of one channel, to which nothing arrives. Yields (time, datagrams, events) of each step."""
    while (at := channel.next_timer()) is not None and at <= most:
        now = max(at, now)
        channel.handle_timer(now)
        yield now, channel.datagrams_to_send(), channel.events()
        channel.check_invariants()


# ---- beginning


def test_hello_is_repeated_by_the_timer_until_the_peer_is_given_up():
    pair = Pair(is_up=False)
    pair.b0.send(b"b1", b"m", 0)
    pair.b0.datagrams_to_send()
    steps = list(until_silent(pair.b0, 0))
    hellos = [now // MS for now, out, _ in steps if kinds(out) == [wire.HELLO]]
    assert hellos == [200, 600, 1400, 2400, 3400, 4400]
    assert steps[-1] == (5 * SECOND, [], [Down(b"b1", "unreachable", [b"m"])])


def test_hello_is_sent_as_often_as_tries_says():
    pair = Pair(ChannelSettings(give_up_s=0, tries=3), is_up=False)
    pair.b0.datagrams_to_send()
    steps = list(until_silent(pair.b0, 0))
    assert [kinds(out) for _, out, _ in steps] == [[wire.HELLO], [wire.HELLO], []]
    assert steps[-1][0] == (200 + 400 + 800) * MS


def test_messages_sent_before_up_wait():
    pair = Pair(is_up=False)
    pair.b0.send(b"b1", b"early", 0)
    pair.exchange()
    assert pair.log[B1] == [Up(b"b0", B0), Message(b"b0", b"early")]


def test_the_other_end_is_up_only_once_it_knows_that_the_welcome_arrived():
    pair = Pair(is_up=False)
    pair.give(pair.drain(pair.b0), pair.b1)
    welcome = pair.drain(pair.b1)
    assert not pair.log[B1] and not pair.b1.send(b"b0", b"m", 0)
    pair.give(welcome, pair.b0)
    assert kinds(pair.drain(pair.b0)) == [wire.PROBE]
    assert pair.log == {B0: [Up(b"b1", B1)], B1: []}


def test_crossing_hellos_make_one_session():
    pair = Pair(is_up=False)
    pair.b1.open(b"b0", B0, 0)
    first, second = pair.drain(pair.b0), pair.drain(pair.b1)
    pair.give(first, pair.b1)
    pair.give(second, pair.b0)
    pair.exchange()
    assert pair.log == {B0: [Up(b"b1", B1)], B1: [Up(b"b0", B0)]}
    assert session_of(pair.b0, b"b1").ours == session_of(pair.b1, b"b0").theirs == A


def test_the_same_hello_gets_the_same_welcome_also_when_up():
    pair = Pair(is_up=False)
    hello = pair.drain(pair.b0)
    pair.give(hello + hello, pair.b1)
    one, other = pair.drain(pair.b1)
    assert one == other
    pair.give([one], pair.b0)
    pair.exchange()
    pair.give(hello, pair.b1)
    assert pair.drain(pair.b1) == [one]
    assert len(pair.b1._station.half_open) == 0


def test_an_open_uses_the_incarnation_of_a_half_open_session():
    pair = Pair(is_up=False)
    pair.give(pair.drain(pair.b0), pair.b1)
    welcome = pair.drain(pair.b1)
    pair.b1.open(b"b0", B0, 0)
    hello = pair.drain(pair.b1)
    assert wire.read_number(hello[0][0]) == wire.read_number(welcome[0][0]) == B


def test_an_open_of_a_session_that_is_up_only_sets_keep():
    pair = Pair(NEVER_GIVES_UP)
    assert pair.b0.open(b"b1", OTHER, 0, keep=True)
    assert not pair.drain(pair.b0) and session_of(pair.b0, b"b1").keep
    assert session_of(pair.b0, b"b1").address == B1


def test_a_hello_with_the_own_id_is_dropped():
    pair = Pair()
    pair.b0.receive(wire.hello(5, b"b0", 256), B1, 0)
    assert not pair.drain(pair.b0) and pair.b0.counters["dropped_own_id"] == 1


@pytest.mark.parametrize("id", [b"", bytes(65)])
def test_an_id_has_1_to_64_bytes(id):
    with pytest.raises(ValueError, match="id"):
        Channel(id, ChannelSettings(), Scripted())
    with pytest.raises(ValueError, match="id"):
        Pair().b0.open(id, B1, 0)


def test_the_own_id_is_no_peer_and_a_key_has_up_to_32_bytes():
    with pytest.raises(ValueError, match="not the id of a peer"):
        Pair().b0.open(b"b0", B1, 0)
    with pytest.raises(ValueError, match="a key has"):
        Channel(b"b0", ChannelSettings(), Scripted(), bytes(33))


def test_an_id_of_64_bytes_makes_a_longer_hello():
    here, there = Channel(b"a" * 64, ChannelSettings(), Scripted()), Channel(b"b" * 64, ChannelSettings(), Scripted())
    here.open(there.id, B1, 0)
    ((hello, _),) = here.datagrams_to_send()
    assert len(hello) == 101
    there.receive(hello, B0, 0)
    assert kinds(there.datagrams_to_send()) == [wire.WELCOME]


# ---- restart


def test_a_restarted_peer_replaces_its_session():
    world = World()
    world.open(b"b0", b"b1", keep=True)
    world.run(100)
    world.nodes[b"b0"].address = world.fresh_address()
    world.send(b"b0", b"b1")
    world.run(100)
    world.restart(b"b1")
    world.send(b"b0", b"b1")
    world.open(b"b1", b"b0")
    world.run(300)
    names = world.names(b"b0")
    assert names == ["Up", "Down", "Up"]
    assert [event.reason for _, event in world.events if isinstance(event, Down)] == ["reset"]
    assert not session_of(world.nodes[b"b0"].channel, b"b1").keep


def test_what_was_not_acknowledged_is_handed_back_by_a_reset():
    pair = Pair()
    pair.b0.send(b"b1", b"one", 0)
    lost = pair.drain(pair.b0)
    pair.b0.send(b"b1", b"two", 0)
    fresh = Channel(b"b1", ChannelSettings(), Scripted(77))
    fresh.receive(lost[0][0], B0, 0)
    ((reset, to),) = fresh.datagrams_to_send()
    assert (reset[1], to) == (wire.RESET, B0)
    pair.give([(reset, B0)], pair.b0)
    assert pair.log[B0] == [Down(b"b1", "reset", [b"one", b"two"])]
    assert not pair.b0.send(b"b1", b"three", 0)


@pytest.mark.parametrize("kind", [wire.WELCOME, wire.RESET, wire.BYE, wire.LOOSE])
def test_some_kinds_with_an_unknown_incarnation_get_no_reset(kind):
    pair = Pair()
    pair.b0.receive(wire.head(kind, 99) + bytes(16), B1, 0)
    assert not pair.drain(pair.b0)


def test_zero_and_an_incarnation_that_is_being_opened_get_no_reset():
    pair = Pair(is_up=False)
    pair.drain(pair.b0)
    for to in (0, A):
        pair.b0.receive(wire.head(wire.PROBE, to) + bytes(8), B1, 0)
    assert not pair.drain(pair.b0)
    assert pair.b0.counters == {"dropped_unknown": 1, "dropped_opening": 1}


def test_records_of_a_former_life_are_never_taken_for_those_of_the_present_one():
    """b0 opens; b1 opens, is answered, sends a record, which is late, and starts again."""
    b0, old = Channel(b"b0", ChannelSettings(), Scripted(A)), Channel(b"b1", ChannelSettings(), Scripted(5))
    b0.open(b"b1", B1, 0)
    hello = b0.datagrams_to_send()[0][0]
    old.open(b"b0", B0, 0)
    old.send(b"b0", b"of the former life", 0)
    b0.receive(old.datagrams_to_send()[0][0], B1, 0)
    old.receive(b0.datagrams_to_send()[0][0], B0, 0)
    late = [data for data, _ in old.datagrams_to_send()]
    new = Channel(b"b1", ChannelSettings(), Scripted(6))
    new.receive(hello, B0, 0)
    b0.receive(new.datagrams_to_send()[0][0], B1, 0)  # its WELCOME names A, which the former life knows, too
    new.receive(b0.datagrams_to_send()[0][0], B0, 0)
    b0.receive(new.datagrams_to_send()[0][0], B1, 0)
    assert b0.events() == [Up(b"b1", B1)]
    for data in late:
        b0.receive(data, B1, 0)
    assert not b0.events()
    new.receive(b0.datagrams_to_send()[0][0], B0, 0)
    assert new.events() == [Up(b"b0", B0)]


def test_an_incarnation_is_told_to_one_life_of_the_peer_only():
    """As above, but the present life says HELLO, too, before the late record arrives."""
    b0, old = Channel(b"b0", ChannelSettings(), Scripted(A)), Channel(b"b1", ChannelSettings(), Scripted(5))
    b0.open(b"b1", B1, 0)
    b0.datagrams_to_send()
    old.open(b"b0", B0, 0)
    old.send(b"b0", b"of the former life", 0)
    b0.receive(old.datagrams_to_send()[0][0], B1, 0)
    old.receive(b0.datagrams_to_send()[0][0], B0, 0)
    late = [data for data, _ in old.datagrams_to_send()]
    new = Channel(b"b1", ChannelSettings(), Scripted(6))
    new.open(b"b0", B0, 0)
    new.send(b"b0", b"of the present life", 0)
    b0.receive(new.datagrams_to_send()[0][0], B1, 0)
    new.receive(b0.datagrams_to_send()[0][0], B0, 0)
    for data in (*late, *(data for data, _ in new.datagrams_to_send())):
        b0.receive(data, B1, 0)
    assert b0.events() == [Up(b"b1", B1), Message(b"b1", b"of the former life")]
    for data, _ in b0.datagrams_to_send():
        new.receive(data, B0, 0)
    assert new.events() == [Up(b"b0", B0), Down(b"b0", "reset", [b"of the present life"])], "it may open again"


def test_both_ends_agree_on_the_incarnation_that_was_told():
    pair = Pair(is_up=False)
    pair.drain(pair.b0)
    session_of(pair.b0, b"b1").is_redrawn = True
    pair.b0.receive(wire.hello(6, b"b1", 256), B1, 0)
    ((welcome, _),) = pair.b0.datagrams_to_send()
    told = wire.read_number(welcome)
    assert told != A
    pair.b0.receive(wire.welcome(A, 6, b"b1", 256), B1, 0)
    assert not pair.b0.events() and pair.b0.counters == {"dropped_crossed": 1}
    pair.b0.receive(wire.head(wire.PROBE, told) + bytes(8), B1, 0)
    assert pair.b0.events() == [Up(b"b1", B1)] and session_of(pair.b0, b"b1").ours == told
    pair.b0.check_invariants()


def test_a_forged_hello_changes_nothing():
    pair = Pair()
    pair.b1.receive(wire.hello(99, b"b0", 256), OTHER, 0)
    assert pair.drain(pair.b1)[0][1] == OTHER
    pair.wait(4_000)
    assert len(pair.b1._station.half_open) == 0
    pair.b0.send(b"b1", b"m", pair.now)
    pair.exchange()
    assert pair.messages(pair.b1) == [b"m"] and pair.log[B0] == []


def test_half_open_sessions_are_bounded_and_last_3_s():
    channel = Channel(b"b1", ChannelSettings(), Scripted())
    for number in range(1, 1_500):
        channel.receive(wire.hello(number, b"p%d" % (number // 6), 1), ("10.1.0.1", number), 0)
    channel.check_invariants()
    half = channel._station.half_open
    assert len(half) <= 1_024 and max(len(half.of(b"p%d" % i)) for i in range(250)) == 4
    channel.handle_timer(3 * SECOND - 1)
    assert len(half) > 900
    channel.handle_timer(3 * SECOND)
    assert len(half) == 0 and channel.next_timer() is None


# ---- unreachable


def test_the_verdict_falls_give_up_s_after_the_first_sending_without_answer():
    pair = Pair(ChannelSettings(probe_s=0))
    pair.now = 7 * SECOND
    pair.b0.send(b"b1", b"m", pair.now)
    pair.drain(pair.b0)
    steps = list(until_silent(pair.b0, pair.now))
    assert steps[-1][0] == 12 * SECOND
    assert steps[-1][2] == [Down(b"b1", "unreachable", [b"m"])]
    ((reset, _),) = steps[-1][1]
    assert sum(kinds(out) == [wire.DATA] for _, out, _ in steps) == 6, "at least six sendings, the first one among them"
    pair.give([(reset, B1)], pair.b1)
    assert pair.log[B1] == [Down(b"b0", "reset", [])]


def test_the_verdict_falls_at_the_time_out_after_the_last_try():
    pair = Pair(ChannelSettings(give_up_s=0, tries=4, probe_s=0))
    pair.b0.send(b"b1", b"m", pair.now)
    sent = kinds(pair.drain(pair.b0))
    steps = list(until_silent(pair.b0, pair.now))
    assert sent + [kind for _, out, _ in steps for kind in kinds(out)] == [wire.DATA] * 4 + [wire.RESET]
    assert steps[-1][0] - pair.now == (200 + 400 + 800 + 1_000) * MS


def test_a_session_whose_verdict_is_due_takes_nothing_more():
    """The driver did not get to the timers in time: they come before what the user wants at that instant."""
    pair = Pair(ChannelSettings(probe_s=0))
    pair.b0.send(b"b1", b"m", pair.now)
    pair.drain(pair.b0)
    assert not pair.b0.send(b"b1", b"late", 5 * SECOND)
    assert pair.b0.events() == [Down(b"b1", "unreachable", [b"m"])]


def test_a_paused_session_whose_verdict_is_due_delivers_nothing_more():
    pair = Pair(ChannelSettings(probe_s=0))
    pair.b0.pause(b"b1")
    pair.b1.send(b"b0", b"held", pair.now)
    pair.give(pair.drain(pair.b1), pair.b0)
    pair.b0.send(b"b1", b"m", pair.now)
    pair.drain(pair.b0)
    pair.b0.resume(b"b1", 5 * SECOND)
    assert pair.b0.events() == [Down(b"b1", "unreachable", [b"m"])]


def test_a_silent_peer_is_probed_and_given_up():
    pair = Pair(ChannelSettings(give_up_s=1, probe_s=5))
    assert not pair.log[B0]
    first, *_, last = until_silent(pair.b0, pair.now)
    assert (first[0], kinds(first[1])) == (5 * SECOND, [wire.PROBE])
    assert (last[0], last[2]) == (6 * SECOND, [Down(b"b1", "unreachable", [])])


def test_a_welcome_begins_the_time_of_the_verdict_again():
    pair = Pair(ChannelSettings(give_up_s=5, probe_s=0), is_up=False)
    pair.drain(pair.b0)
    list(until_silent(pair.b0, 0, most=4 * SECOND))
    pair.b0.receive(wire.welcome(A, B, b"b1", 256), B1, 4 * SECOND)
    pair.b0.datagrams_to_send()
    assert list(until_silent(pair.b0, 4 * SECOND))[-1][0] == 9 * SECOND


@pytest.mark.parametrize("is_data", [True, False])
def test_any_datagram_of_a_silent_peer_ends_the_probing(is_data):
    pair = Pair(ChannelSettings(probe_s=1))
    for number in range(2):
        pair.b1.send(b"b0", b"%d" % number, pair.now)
        pair.exchange()
        pair.wait(30)
    pair.b0.send(b"b1", b"m", pair.now)
    pair.wait(30)
    pair.b0.handle_timer(pair.now + SECOND)
    assert kinds(pair.drain(pair.b0)) == [wire.PROBE]
    pair.now += SECOND
    if is_data:
        pair.b1.send(b"b0", b"n", pair.now)
    else:
        session_of(pair.b1, b"b0").send(wire.ACK)
    pair.give(pair.b1.datagrams_to_send()[-1:], pair.b0)
    pair.now += 20 * MS
    pair.b0.handle_timer(pair.now)
    pair.drain(pair.b0)
    assert pair.b0.next_timer() == pair.now - 20 * MS + SECOND


def test_peers_that_answer_stay_up_for_ever():
    pair = Pair(ChannelSettings(give_up_s=0.5, probe_s=1))
    pair.wait(60_000)
    assert not pair.log[B0] and not pair.log[B1]
    assert set(kinds(pair.sent)) == {wire.PROBE, wire.PROBED}


def test_with_keep_a_session_is_quiet_and_comes_back_and_loses_nothing():
    world = World(settings=ChannelSettings(give_up_s=1))
    world.open(b"b0", b"b1", keep=True)
    world.run(50)
    world.nodes[b"b1"].channel.open(b"b0", world.nodes[b"b0"].address, world.now, True)
    world.cut.add(frozenset((b"b0", b"b1")))
    for _ in range(20):
        world.send(b"b0", b"b1", 500)
        world.send(b"b1", b"b0", 500)
    world.run(9_000)
    assert world.names(b"b0") == world.names(b"b1") == ["Up", "Quiet"]
    before = world.datagrams
    world.run(10_000)
    assert world.datagrams - before == 10, "only a PROBE every 2 s of each"
    world.send(b"b0", b"b1", 500)
    assert world.datagrams - before == 10
    world.cut.clear()
    world.run(2_500)
    assert world.names(b"b0")[:3] == ["Up", "Quiet", "Back"]
    assert (len(world.messages(b"b0")), len(world.messages(b"b1"))) == (20, 21)
    assert "Down" not in world.names(b"b0")


def test_with_keep_an_opening_goes_on_for_ever():
    pair = Pair(keep=True, is_up=False)
    pair.b0.datagrams_to_send()
    steps = list(until_silent(pair.b0, 0, most=20 * SECOND))
    assert [events for _, _, events in steps if events] == [[Quiet(b"b1")]]
    assert [now // SECOND for now, out, _ in steps if now > 5 * SECOND and kinds(out)] == [7, 9, 11, 13, 15, 17, 19]
    pair.b1.receive(pair.b0._station.out[0][0] if pair.b0._station.out else wire.hello(A, b"b0", 256), B0, steps[-1][0])
    pair.b0.receive(pair.b1.datagrams_to_send()[0][0], B1, steps[-1][0])
    assert pair.b0.events() == [Back(b"b1"), Up(b"b1", B1)]


@pytest.mark.parametrize("is_up", [True, False])
def test_a_quiet_session_that_is_not_to_stay_any_more_ends_instead_of_the_next_probe(is_up):
    pair = Pair(keep=True, is_up=is_up)
    pair.b0.send(b"b1", b"m", pair.now)
    steps = list(until_silent(pair.b0, 0, most=20 * SECOND))
    assert [events for _, _, events in steps if events] == [[Quiet(b"b1")]]
    assert pair.b0.open(b"b1", B1, steps[-1][0], keep=False)
    steps = list(until_silent(pair.b0, steps[-1][0]))
    assert [events for _, _, events in steps] == [[Down(b"b1", "unreachable", [b"m"])]]
    assert steps[-1][0] == 21 * SECOND


# ---- closing


def test_close_sends_what_waits_and_then_bye():
    pair = Pair(ChannelSettings(window=2, probe_s=0))
    for i in range(9):
        pair.b0.send(b"b1", b"%d" % i, pair.now)
    pair.b0.close(b"b1", pair.now)
    assert not pair.b0.send(b"b1", b"late", pair.now) and not pair.b0.open(b"b1", B1, pair.now)
    pair.wait(500)
    assert pair.messages(pair.b1) == [b"%d" % i for i in range(9)]
    assert pair.log[B0] == [Down(b"b1", "closed", [])]
    assert pair.log[B1][-1] == Down(b"b0", "closed", [])
    assert kinds(pair.sent).count(wire.BYE) == 2


def test_close_waits_for_1_s_at_most_and_says_bye_three_times():
    pair = Pair(ChannelSettings(probe_s=0, give_up_s=0))
    pair.b0.send(b"b1", b"m", pair.now)
    pair.b0.close(b"b1", pair.now)
    pair.drain(pair.b0)
    steps = list(until_silent(pair.b0, pair.now))
    byes = [(now // MS, len(out)) for now, out, _ in steps if wire.BYE in kinds(out)]
    assert byes == [(1_000, 1), (1_200, 1), (1_600, 1)]
    assert steps[-1] == (2_400 * MS, [], [Down(b"b1", "closed", [b"m"])])


def test_a_session_that_is_being_opened_is_closed_within_1_s():
    pair = Pair(is_up=False)
    pair.b0.send(b"b1", b"m", 0)
    pair.b0.close(b"b1", 0)
    pair.b0.datagrams_to_send()
    assert list(until_silent(pair.b0, 0))[-1] == (SECOND, [], [Down(b"b1", "closed", [b"m"])])


def test_a_close_while_opening_still_delivers_if_the_peer_answers():
    pair = Pair(is_up=False)
    pair.b0.send(b"b1", b"m", 0)
    pair.b0.close(b"b1", 0)
    pair.exchange()
    pair.wait(100)
    assert pair.messages(pair.b1) == [b"m"] and pair.log[B0] == [Up(b"b1", B1), Down(b"b1", "closed", [])]


def test_an_unknown_bye_is_ignored():
    pair = Pair()
    pair.b0.receive(wire.head(wire.BYE, 9), B1, 0)
    assert not pair.drain(pair.b0)


# ---- addresses


@pytest.mark.parametrize("before", [0, 1])
def test_a_peer_moves_once_the_new_address_is_proven(before):
    pair = Pair()
    for _ in range(before):
        pair.b0.send(b"b1", b"before", pair.now)
        pair.exchange()
        pair.wait(30)
    pair.log[B1].clear()
    pair.b0.send(b"b1", b"m", pair.now)
    pair.give(pair.drain(pair.b0), pair.b1, source=OTHER)
    assert pair.messages(pair.b1) == [b"m"], "it is taken in"
    ((probe, to),) = pair.drain(pair.b1)
    assert (probe[1], to) == (wire.PROBE, OTHER)
    pair.b1.send(b"b0", b"n", pair.now)
    assert [to for _, to in pair.drain(pair.b1)] == [B0], "nothing else goes there"
    pair.give([(probe, B0)], pair.b0)
    ((answer, _),) = pair.drain(pair.b0)
    pair.give([(answer, B1)], pair.b1, source=B0)
    pair.give([(answer, B1)], pair.b1, source=("203.0.113.8", 9))
    assert pair.log[B1][-1] == Message(b"b0", b"m"), "from another address it proves nothing"
    pair.drain(pair.b1)  # a PROBE to that address, too
    pair.give([(answer, B1)], pair.b1, source=OTHER)
    assert pair.log[B1][-1] == Moved(b"b0", OTHER)
    pair.b1.send(b"b0", b"o", pair.now)
    assert {to for _, to in pair.drain(pair.b1)} == {OTHER}


@pytest.mark.parametrize(("tries", "probes"), [(0, 8), (3, 3)])
def test_a_new_address_is_probed_by_the_timer_and_then_given_up(tries, probes):
    pair = Pair(ChannelSettings(probe_s=0, tries=tries, give_up_s=0))
    pair.b1.readdress(b"b0", OTHER, pair.now)
    times = [(pair.now, pair.drain(pair.b1))] + [(now, out) for now, out, _ in until_silent(pair.b1, pair.now)]
    assert [[to for _, to in out] for _, out in times] == [[OTHER]] * probes
    assert [now // MS for now, _ in times][:3] == [0, 200, 600]
    assert not pair.b1.events(), "PROBEs of a path are no reason to give the peer up"


def test_the_newest_four_candidates_are_kept():
    pair = Pair()
    for number in range(7):
        pair.b1.readdress(b"b0", ("203.0.113.9", number), pair.now)
    assert [to[1] for _, to in pair.drain(pair.b1)] == list(range(7))
    assert [path.address[1] for path in session_of(pair.b1, b"b0").paths._paths] == [3, 4, 5, 6]


def test_moved_lets_every_peer_see_the_new_address():
    world = World(ids=(b"b0", b"b1", b"b2"))
    world.open(b"b0", b"b1")
    world.open(b"b0", b"b2")
    world.run(100)
    world.move(b"b0")
    world.run(100)
    assert world.names(b"b1") == world.names(b"b2") == ["Up", "Moved"]


def test_two_ends_that_move_together_find_each_other_by_readdress():
    world = World()
    world.open(b"b0", b"b1")
    world.run(100)
    world.move(b"b0", is_told=False)
    world.move(b"b1", is_told=False)
    world.send(b"b0", b"b1")
    world.call(b"b0", "readdress", b"b1", world.nodes[b"b1"].address, world.now)
    world.run(2_000)
    assert world.names(b"b0") == ["Up", "Moved"] and world.names(b"b1") == ["Up", "Moved", "Message"]


def test_readdress_while_opening_redirects_hello():
    pair = Pair(is_up=False)
    pair.drain(pair.b0)
    pair.b0.readdress(b"b1", OTHER, 0)
    assert [(data[1], to) for data, to in pair.drain(pair.b0)] == [(wire.HELLO, OTHER)]


def test_a_quiet_session_probes_its_candidates():
    pair = Pair(ChannelSettings(give_up_s=1, probe_s=1), keep=True)
    steps = list(until_silent(pair.b0, pair.now, most=3 * SECOND))
    assert steps[-1][2] == [Quiet(b"b1")]
    pair.now = steps[-1][0]
    pair.b0.readdress(b"b1", OTHER, pair.now)
    pair.drain(pair.b0)
    probes = [sorted(to for _, to in out) for _, out, _ in until_silent(pair.b0, pair.now, most=9 * SECOND)]
    assert probes and all(to == [B1, OTHER] for to in probes)
    pair.now = 8 * SECOND + 500 * MS
    session_of(pair.b1, b"b0").send(wire.ACK)
    pair.give(pair.b1.datagrams_to_send()[-1:], pair.b0)
    assert pair.log[B0][-1] == Back(b"b1")
    assert pair.b0.next_timer() <= pair.now + SECOND, "the candidate's turn comes by its own timer again"
