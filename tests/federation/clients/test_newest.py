"""What a provider keeps of what it has published, to answer queries."""

from overlay.systems.federation.clients import newest
from overlay.systems.federation.clients.newest import Newest
from overlay.systems.federation.wire.values import Notification, NotificationId

SCOPES = ("climate", "light")


def note(number, entity="r1", scope="climate", timestamp=1, expires=1_000, data=None):
    return Notification(NotificationId("p", number), "room", entity, scope, timestamp, expires, data or {"x": number})


def numbers(found):
    return [one.id.number for one in found]


def test_the_newest_of_each_entity_and_scope_is_found_until_it_expires():
    kept = Newest()
    for one in (note(1), note(2), note(3, "r2", expires=50), note(4, scope="light"), note(5, timestamp=0)):
        kept.add(one, 10)
    assert numbers(kept.find(SCOPES, None, None, 10)) == [4, 3, 2], "number 5 is about an earlier time"
    assert numbers(kept.find(["climate"], "room", "r1", 10)) == [2]
    assert numbers(kept.find(SCOPES, None, "r2", 50)) == []
    assert numbers(kept.find(SCOPES, "car", None, 10)) == []
    kept.add(note(6, timestamp=0), 1_000)
    assert numbers(kept.find(["climate"], None, "r1", 900)) == [6], "what has expired does not stand in its way"


def test_what_is_kept_and_answered_is_bounded():
    kept = Newest()
    for number in range(newest.MOST + 10):
        kept.add(note(number, f"r{number}"), 10)
    assert len(kept) == newest.MOST
    assert len(kept.find(SCOPES, None, None, 10)) == newest.MOST_ANSWER
    assert numbers(kept.find(SCOPES, None, "r9", 10)) == [], "those published first have gone"
    large = {f"x{at}": "y" * 1_000 for at in range(40)}
    for number in range(20):
        kept.add(note(number, f"l{number}", data=large), 10)
    assert len(kept) <= newest.MOST_BYTES // 40_000
    assert numbers(kept.find(SCOPES, None, None, 10)) == [19]
