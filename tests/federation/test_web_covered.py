"""Which subscriptions of an account cover the one that is composed."""

from __future__ import annotations

from brokerweb.systems.federation.subscribing.covered import covering
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.language.text import parse


def wanted(text: str, scope: str = "climate", expires: int = 60) -> Wanted:
    return Wanted((scope,), expires, parse(text))


def test_a_wider_subscription_that_lives_as_long_covers_the_composed_one() -> None:
    others = {
        "wider": wanted("temperature > 15"),
        "the same": wanted("temperature > 20 and entity.id = r1"),
        "narrower": wanted("temperature > 25 and entity.id = r1"),
        "of another scope": wanted("temperature > 15", "noise"),
        "shorter": wanted("temperature > 15", expires=59),
        "a query": wanted("temperature > 15")._replace(once=True),
    }
    composed = wanted("temperature > 20 and entity.id = r1")
    assert covering(composed, others.items()) == ["wider", "the same"]
    assert covering(composed._replace(once=True), others.items()) == [], "queries are never covered"
