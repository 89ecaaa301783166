"""All clients and all disturbances at once, on an installation that runs."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from brokerweb.up.environment import find_mosquitto
from tests.service.clients import Client, Curl, Failed, Place, Plain
from tests.service.disturbances import Disturbances
from tests.service.ledger import Ledger, Query, Stored, Verdict
from tests.service.libraries import Mqtt, Ngsi, Python, bridged
from tests.stack.house import House
from tests.test_rest_journey import Api
from tests.waiting import wait_for

Way = Callable[[Place], Client]
WAYS: Sequence[Way] = (Plain, Curl, Python, Ngsi)
"""And ``Mqtt``, where there is a Mosquitto."""
ENTITIES = 4
"""That each way stores."""
STORE_EVERY_S, QUERY_EVERY_S = 1.0, 0.25
VALID_MS = 5_000
"""Of all values but the last: what replicas have of an earlier one is soon no longer valid."""
LAST_VALID_MS = 600_000


@dataclass
class Outcome:
    """What the clients saw."""

    took_s: float
    disturbances: list[str]
    verdicts: dict[str, Verdict]
    refused: dict[str, list[str]]
    """Values that were not acknowledged, by way, and why."""
    lost: list[str] = field(default_factory=list)
    """Last values that had a holder and that a way did not find, or found an older one of."""
    changes: int = 0
    """Of the network, with its creation."""
    logged: int = 0
    """Entries of the change log about it."""

    @property
    def share(self) -> float:
        """Of all queries due, how many were answered."""
        due = sum(verdict.due for verdict in self.verdicts.values())
        return sum(verdict.answered for verdict in self.verdicts.values()) / due if due else 0.0

    @property
    def is_whole(self) -> bool:
        """Nothing is lost, and every change is logged."""
        return not self.lost and self.logged == self.changes

    def as_json(self) -> dict[str, Any]:
        ways = {
            way: {
                "queries": one.queries,
                "due": one.due,
                "answered": one.answered,
                "older": one.older,
                "missed": [f"{query.entity}: {query.error or 'not found'}" for query in one.missed[:20]],
                "refused": self.refused.get(way, []),
            }
            for way, one in self.verdicts.items()
        }
        return {
            "took_s": round(self.took_s, 1),
            "share_answered": self.share,
            "lost": self.lost,
            "changes": self.changes,
            "changes_logged": self.logged,
            "disturbances": self.disturbances,
            "ways": ways,
        }


def network_of(api: Api, brokers: int) -> str:
    """A running network of so many brokers; its path."""
    body = {
        "name": f"ring of {brokers}",
        "kind": "waxman",
        "brokers": brokers,
        "params": {"mean_degree": 4.0},
        "seed": 7,
    }
    topology = api.post("/topologies/", body)
    path = f"/networks/{api.post('/networks/', {'name': 'service', 'topology': topology['id']})['id']}/"
    wait_for(lambda: api.get(path)["state"] == "running", "the network runs", every=0.5)
    return path


def drive(house: House, api: Api, path: str, seconds: float, seed: int = 1, *, calm: bool = False) -> Outcome:
    """Drive the network of ``path`` for so long, by all ways; ``calm``: without disturbances."""
    place = place_of(api, path)
    if find_mosquitto() is None:
        return _drive(house, api, path, WAYS, seconds, seed, calm=calm)
    with tempfile.TemporaryDirectory(prefix="waxwing-mqtt-") as folder, bridged(place, Path(folder)):
        return _drive(house, api, path, [*WAYS, Mqtt], seconds, seed, calm=calm)


def _drive(house: House, api: Api, path: str, ways: Sequence[Way], seconds: float, seed: int, *, calm: bool) -> Outcome:
    began, place = time.monotonic(), place_of(api, path)
    ledger, end = Ledger(), began + seconds
    clients = [way(place) for way in ways]
    entities = [f"{client.name}-{number}" for client in clients for number in range(ENTITIES)]
    threads = [threading.Thread(target=_store, args=(way(place), ledger, end)) for way in ways]
    threads += [
        threading.Thread(target=_query, args=(way(place), ledger, entities, end, Random(f"{seed}/{number}")))
        for number, way in enumerate(ways)
    ]
    for thread in threads:
        thread.start()
    disturbances = Disturbances(house, api, path, ledger, Random(seed))
    if not calm:
        disturbances.until(end)
    for thread in threads:
        thread.join()
    lost = _lost(clients, ledger, entities)
    for client in clients:
        client.close()
    done = [f"{one.mended - began:.1f} s: {one.name}" for one in disturbances.done]
    outcome = Outcome(time.monotonic() - began, done, ledger.verdicts(), dict(ledger.refused), lost)
    outcome.changes = 1 + disturbances.changes
    outcome.logged = len(api.get(f"/changes/?object_id={path.strip('/').rpartition('/')[2]}&page_size=200")["results"])
    return outcome


def place_of(api: Api, path: str) -> Place:
    url = str(api.http.base_url).removesuffix("/api/")
    token = api.http.headers["Authorization"].removeprefix("Bearer ")
    brokers = [one["address"].rpartition(":") for one in api.get(path)["brokers"]]
    return Place(url, path.split("/")[2], token, [(host, int(port)) for host, _, port in brokers])


def _store(client: Client, ledger: Ledger, end: float) -> None:
    """Each entity of its own once a second; the last values are valid for longer."""
    number = 0
    while True:
        number += 1
        is_last = time.monotonic() >= end
        for entity in (f"{client.name}-{each}" for each in range(ENTITIES)):
            _store_one(client, ledger, entity, number, LAST_VALID_MS if is_last else VALID_MS)
        if is_last:
            client.close()
            return
        time.sleep(STORE_EVERY_S)


def _store_one(client: Client, ledger: Ledger, entity: str, number: int, valid_ms: int) -> None:
    begun = time.monotonic()
    try:
        holder = client.store(entity, number, valid_ms)
    except Failed as failed:
        ledger.refused[client.name].append(f"{entity}: {failed}")
        return
    ledger.stored[entity].append(Stored(number, holder, time.monotonic(), begun + valid_ms / 1000))


def _query(client: Client, ledger: Ledger, entities: Sequence[str], end: float, chance: Random) -> None:
    while time.monotonic() < end:
        entity, begun, number, error = chance.choice(entities), time.monotonic(), None, ""
        try:
            number = client.query(entity)
        except Failed as failed:
            error = str(failed)
        ledger.queries.append(Query(client.name, entity, begun, time.monotonic(), number, error))
        time.sleep(QUERY_EVERY_S)
    client.close()


def _lost(clients: Sequence[Client], ledger: Ledger, entities: Sequence[str]) -> list[str]:
    """Wait until earlier values have expired, then query every last value by every way."""
    time.sleep(VALID_MS / 1000)
    lost, now = [], time.monotonic()
    for entity in entities:
        stored = ledger.last(entity, now)
        if stored is None or not ledger.survived(stored, stored.at, now):
            continue
        for client in clients:
            try:
                found: object = client.query(entity)
            except Failed as failed:
                found = failed
            if found != stored.number:
                lost.append(f"{entity} by {client.name}: {found} instead of {stored.number}")
    return lost
