"""``why``: a dry publication, broker by broker, for an operator on the brokers' host."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from overlay.core.addresses import Address, parse_address
from overlay.core.errors import WaxwingError
from overlay.programs.arguments import OneLineParser
from overlay.programs.silbops.inspection import Inspector, site_of
from overlay.programs.silbops.reading import client_id, context_of, document, function, notification_of
from overlay.programs.text import say
from overlay.systems.silbops.clients.terms import Site
from overlay.systems.silbops.subjects import Subject

MOST_CLIENTS = 1_000_000
"""Of a broker, that are looked through."""


class NotPublished(WaxwingError):
    """The publisher or the subscriber is unknown, or a broker would refuse the publication."""


@dataclass
class Network:
    """What its brokers tell, from one on."""

    addresses: dict[str, Address] = field(default_factory=dict)
    neighbours: dict[str, list[str]] = field(default_factory=dict)
    clients: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By id, the broker and the owner."""

    def way(self, one: str, other: str) -> list[str]:
        """Brokers from ``one`` to ``other``; empty if there is none."""
        ways, waiting = {one: [one]}, [one]
        for broker in waiting:
            for after in self.neighbours.get(broker, ()):
                if after not in ways:
                    ways[after] = [*ways[broker], after]
                    waiting.append(after)
        return ways.get(other, [])


def add_why(parser: OneLineParser) -> None:
    parser.add_argument(
        "notification", type=document(notification_of), metavar="JSON", help='such as \'{"kind": "fire"}\''
    )
    parser.add_argument(
        "--publisher", type=client_id, required=True, metavar="HEX", help="the client that would publish"
    )
    parser.add_argument("--context", type=document(context_of), default={}, metavar="JSON", help="of the publisher")
    parser.add_argument(
        "--scope", type=function, default="", metavar="TEXT", help="the publisher's function of context"
    )
    parser.add_argument(
        "--subscriber", type=client_id, metavar="HEX", help="a client whose subscriptions are all listed"
    )


def why(given: Namespace) -> bool:
    """Whether any client, or the subscriber that was named, would get it."""
    network = survey(given.broker, given.deadline)
    asked = {"notification": given.notification, "context": given.context, "scope": given.scope}
    subscriber, found = given.subscriber or "", False
    for broker, answer in dry_publication(network, given.publisher, asked, subscriber, given.deadline):
        if given.json:
            say(json.dumps({"broker": broker, **answer}))
        else:
            _show(broker, answer)
        clients = [name for kind, name in answer["to"] if kind == "client"]
        found = found or (subscriber in clients if subscriber else bool(clients))
    return found


def dry_publication(
    network: Network, publisher: str, publication: Mapping[str, Any], subscriber: str, deadline_s: float
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Answers of brokers to ``notification``, ``context`` and ``scope`` of a client, with all that concerns
    ``subscriber``, if it is named. Raises as ``answers``."""
    first, _ = _client_of(network, publisher)
    last, about = _client_of(network, subscriber) if subscriber else ("", "")
    yield from answers(network, first, {**publication, "client": publisher, "about": about}, last, deadline_s)


def survey(address: Address, deadline_s: float) -> Network:
    """The brokers that can be reached from one, and their clients. Raises ``NoAnswer``, ``NotInspected``."""
    network, waiting = Network(), [site_of(address, deadline_s)]
    for name, at in waiting:
        if name in network.addresses:
            continue
        network.addresses[name] = at
        with Inspector(at, deadline_s) as broker:
            rows = broker.rows(Subject.NEIGHBOURS, limit=MOST_CLIENTS).rows
            network.neighbours[name] = [row["broker"] for row in rows]
            waiting += [Site(row["broker"], parse_address(row["endpoint"])) for row in rows]
            for row in broker.rows(Subject.CLIENTS, limit=MOST_CLIENTS).rows:
                network.clients[row["id"]] = name, row["owner"]
    return network


def answers(
    network: Network, first: str, asked: Mapping[str, Any], last: str, deadline_s: float
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Of the brokers that the publication would come to, and of those on the way to ``last``, if it is named. Raises
    ``NotPublished``, ``NoAnswer``, ``NotInspected``."""
    on_way = network.way(first, last) if last else []
    waiting: list[tuple[str, Mapping[str, Any]]] = [(first, asked)]
    for broker, question in waiting:
        with Inspector(network.addresses[broker], deadline_s) as inspector:
            answer = inspector.why(question)
        if answer["refused"]:
            raise NotPublished(f"{broker}: {answer['refused']}.")
        yield broker, answer
        after = [name for kind, name in answer["to"] if kind == "broker"]
        if broker in on_way[:-1]:
            after.append(on_way[on_way.index(broker) + 1])
        told = {"notification": answer["notification"], "context": answer["context"], "neighbour": broker}
        waiting += [
            (name, {"scope": asked["scope"], "about": asked["about"], **told})
            for name in sorted(set(after))
            if name in network.addresses
        ]


def _client_of(network: Network, id: str) -> tuple[str, str]:
    found = network.clients.get(id.lower())
    if found is None:
        raise NotPublished(f"No broker has a client {id[:40]!r}.")
    return found


def _show(broker: str, answer: Mapping[str, Any]) -> None:
    def named(kind: str, name: str) -> str:
        away_s = answer["away"].get(name) if kind == "client" else None
        return f"{kind} {name}" if away_s is None else f"{kind} {name} (away for {away_s:.1f} s)"

    to = ", ".join(named(*link) for link in answer["to"])
    say(f"{broker}: to {to or 'none'}")
    for row in answer["rows"]:
        say(f"  {named(*row['link'])}, subscription {row['id']}: {row['says_no'] or 'yes'}")
    if answer["total"] > len(answer["rows"]):
        say(f"  … {answer['total'] - len(answer['rows']):,} more")
    for one in answer["told"]:
        say(f"  subscription {one['id']} towards {one['broker']}: {one['state']}")
