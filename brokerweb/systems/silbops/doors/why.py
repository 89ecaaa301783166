"""A dry publication: who would get it, broker by broker, and which constraint or part of a function says no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brokerweb.hosting.views import Caller
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.systems.silbops.doors import rows, service
from brokerweb.systems.silbops.doors.rows import ROWS
from brokerweb.systems.silbops.doors.service import Publication
from brokerweb.systems.silbops.models import SilbopsSubscription
from overlay.core.addresses import Address
from overlay.programs.inspection import NotInspected
from overlay.programs.questions import NoAnswer
from overlay.programs.silbops.asking import NotPublished, dry_publication, survey

DEADLINE_S = 1.0
"""Of one question to a broker."""


def why(caller: Caller, client: str, one: Publication, about: SilbopsSubscription | None) -> dict[str, Any]:
    """``{delivered, brokers}``. ``about``: its client's subscriptions are listed at each broker in any case."""
    publisher, context = service.advertised(caller, client, one)
    _, address = service.attached(caller, publisher)
    if about is not None:
        service.attached(caller, about.client)
    subscriber = "" if about is None else about.client.identity
    asked = {"notification": dict(one.notification), "context": dict(context), "scope": one.scope}
    answers = _asked(address, publisher.identity, asked, subscriber)
    own = _Own(caller)
    brokers = [own.told(broker, answer) for broker, answer in answers]
    got = {name for _, answer in answers for kind, name in answer["to"] if kind == "client"}
    return {"delivered": bool(got) if about is None else subscriber in got, "brokers": brokers}


def _asked(
    address: Address, publisher: str, publication: Mapping[str, Any], subscriber: str
) -> list[tuple[str, Mapping[str, Any]]]:
    try:
        network = survey(address, DEADLINE_S)
        return list(dry_publication(network, publisher, publication, subscriber, DEADLINE_S))
    except NoAnswer as error:
        raise NotAnswered(str(error)) from None
    except (NotInspected, NotPublished) as error:
        raise NotPossible(str(error)) from None


class _Own:
    """What the caller's own clients and subscriptions are called."""

    def __init__(self, caller: Caller) -> None:
        self._names = rows.named(caller.network, caller.user)
        self._ids = service.known(list(ROWS.of_account(caller.network, caller.user)))

    def told(self, broker: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        away = answer["away"]
        return {
            "broker": broker,
            "to": [self._link(link, away) for link in answer["to"]],
            "rows": [self._row(row, away) for row in answer["rows"]],
            "total": answer["total"],
            "told": answer["told"],
        }

    def _link(self, link: Sequence[str], away: Mapping[str, float]) -> dict[str, Any]:
        kind, name = link
        away_s = away.get(name) if kind == "client" else None
        return {"kind": kind, "name": name, "client": self._names.get(name), "away_s": away_s}

    def _row(self, row: Mapping[str, Any], away: Mapping[str, float]) -> dict[str, Any]:
        _, name = row["link"]
        subscription = self._ids.get((name, row["id"]))
        return {
            **row,
            "link": self._link(row["link"], away),
            "subscription": subscription,
            "says_no": row["says_no"] or None,
        }
