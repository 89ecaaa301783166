"""Neighbours that were chosen agree to be neighbours: 18 and 19 between them, and a join where one does not know it."""

from overlay.core.addresses import format_address
from tests.broker.transcript import A, B, D, K, Talk


def chosen(*neighbours, **settings):
    """Broker A under greedy membership, whom these have joined, and which watches them."""
    talk = Talk(*neighbours, membership="greedy", **settings)
    talk.hear(K, "0|1")
    talk.wait(1)
    return talk


def asked(talk, ms):
    """Who is asked for its neighbours, and who is joined, within so many milliseconds; all answer pings."""
    said = []
    for _ in range(ms // 100):
        for _, name, text in talk.wait(100):
            if text.startswith("1|"):
                talk.hear({"B": B, "D": D}[name], f"9|1|Ctx_Broker|{format_address(A)}")
            elif text[:2] in ("18", "8|"):
                said.append((name, text.split("|")[0]))
    return said


def names(talk, neighbour, *others):
    talk.hear(neighbour, "19|1" + "".join(f"|{format_address(other)}" for other in others))


def test_one_after_the_other_is_asked_and_who_names_us_is_left_in_peace():
    talk = chosen(B, D)
    turns = []
    for _ in range(4):
        [(name, code)] = asked(talk, 1000)
        assert code == "18"
        names(talk, {"B": B, "D": D}[name], A)
        turns.append(name)
    assert turns in (["B", "D"] * 2, ["D", "B"] * 2)
    assert set(talk.broker.neighbours) == {B, D}


def test_one_that_names_us_not_twice_is_joined_and_stays_when_it_takes_us_in():
    talk = chosen(B)
    assert asked(talk, 1000) == [("B", "18")]
    names(talk, B, D)
    assert asked(talk, 1000) == [("B", "18")], "it may be about to"
    assert talk.hear(B, f"19|1|{format_address(D)}")[0][1].startswith("8|")
    talk.hear(B, f"5|1|ACK|Status:101|Operation BrokerJoining|Requested by {format_address(A)}")
    asked(talk, 3000)
    assert talk.broker.neighbours == (B,)


def test_one_that_does_not_take_us_in_is_no_neighbour():
    talk = chosen(B)
    for _ in range(2):
        asked(talk, 1000)
        names(talk, B, D)
    asked(talk, 1000)
    assert talk.broker.neighbours == ()
    assert "NeighbourRefused" in [type(event).__name__ for event in talk.broker.events()]


def test_what_nobody_asked_for_changes_nothing():
    talk = chosen(B)
    for _ in range(3):
        names(talk, B, D)
        names(talk, D, B)
    assert talk.broker.neighbours == (B,)
    assert talk.stats()["rejected_stray"] == 6


def test_one_that_has_left_says_so_to_who_asks():
    talk = chosen(B)
    talk.hear(K, "7|5")
    assert [text.split("|")[0] for _, text in talk.hear(B, "18|9")] == ["7", "19"]


def test_where_neighbours_are_given_nobody_is_asked():
    talk = Talk(B)
    talk.hear(K, "0|1")
    assert asked(talk, 3000) == []
