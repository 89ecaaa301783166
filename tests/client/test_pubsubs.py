"""What the library makes of answers about SilboPS."""

from __future__ import annotations

from typing import Any

from waxwing.pubsubs import Why


def row(subscriber: str, id: int, subscription: str | None, says_no: str | None) -> dict[str, Any]:
    return {"subscriber": subscriber, "id": id, "subscription": subscription, "says_no": says_no}


FIRST = {
    "broker": "b0",
    "rows": [row("car", 1, None, "pub.x is 9"), row("car", 2, None, "kind"), row("bus", 1, None, "speed")],
}
LAST = {"broker": "b1", "rows": [row("car", 1, "s1", None), row("car", 2, "s2", "kind"), row("bus", 1, None, "bus")]}


def test_objections_are_those_of_the_subscription_that_was_asked_about() -> None:
    answer = {"delivered": False, "brokers": [FIRST, LAST]}
    assert Why.of(answer).says_no == ("pub.x is 9", "kind", "speed", "bus")
    assert Why.of(answer, subscription="s1").says_no == ("pub.x is 9",)
    assert Why.of(answer, subscription="s2").says_no == ("kind",)


def test_where_the_server_knows_no_number_of_it_all_objections_are_told() -> None:
    assert Why.of({"delivered": False, "brokers": [FIRST]}, subscription="s1").says_no == (
        "pub.x is 9",
        "kind",
        "speed",
    )
