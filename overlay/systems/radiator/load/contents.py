"""What messages contain, to a length drawn from the workload's range. Equal arguments give equal messages."""

from __future__ import annotations

from typing import Any

from overlay.core.binary import canonical
from overlay.core.chance import Chance, Stream, derive_seed
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.load.population import SHARES, Population, client_id
from overlay.systems.radiator.workload import Workload

EVENTS = ("bump", "pothole", "brake", "swerve")
NEAR = 0.01
"""Degrees between a client and its hazards, at most."""
SYMBOLS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
CENTRE = {"latitude": 38.75, "longitude": -9.15}
"""Of the hazards in messages whose location is a name."""
CUSTOM = "custom"
OBJECTS = tuple(f"object-{number:02d}" for number in range(50))
STOCKS = tuple(f"share-{number:02d}" for number in range(20))


class Contents:
    """The messages of a workload."""

    def __init__(self, workload: Workload, scenario: str, population: Population, seed: int) -> None:
        self._workload, self._scenario, self._population, self._seed = workload, scenario, population, seed

    def message(self, client: int, turn: int, due_ms: int) -> bytes:
        """Canonical JSON of the ``turn``-th message of a client, due at ``due_ms`` (since 1970)."""
        chance = Stream(derive_seed(self._seed, "message", client, turn))
        attributes = self._attributes(client, chance)
        context = Context((client_id(client),), due_ms, due_ms, attributes)
        low, high = self._workload.bytes_low, self._workload.bytes_high
        length = low + chance.randrange(high - low + 1)
        if self._workload.content == "hazards":
            self._add_hazards(attributes, length - len(context.encode()), chance)
        else:
            self._add_data(context, attributes, length, chance)
        return context.encode()

    def _attributes(self, client: int, chance: Chance) -> dict[str, Any]:
        people, is_moving = self._population, self._workload.moving
        place = people.draw_location(chance) if is_moving else people.location(client)
        attributes: dict[str, Any] = {"location": place, "speed": round(120 * chance.random(), 1)}
        if self._scenario == "4":
            attributes |= {"object": OBJECTS[chance.randrange(len(OBJECTS))], "likes": 1}
            attributes["friends"] = people.draw_friends(client, chance) if is_moving else people.friends(client)
        elif is_moving and self._scenario in ("3", CUSTOM):
            attributes["friends"] = people.draw_friends(client, chance)
        if self._scenario == "6":
            attributes |= {"share": STOCKS[chance.randrange(len(STOCKS))], "values": round(1000 * chance.random(), 2)}
        if is_moving and self._scenario in ("6", CUSTOM):
            attributes["num_of_shares"] = chance.randrange(SHARES)
        return attributes

    def _add_hazards(self, attributes: dict[str, Any], room: int, chance: Chance) -> None:
        """As many events as come nearest to ``room`` bytes."""
        place = attributes["location"]
        centre = place if isinstance(place, dict) else CENTRE
        events: list[Any] = []
        used = len(canonical({"events": [], "hazards": 0})) - 1
        while used < room:
            event = {"type": EVENTS[chance.randrange(len(EVENTS))], **_near(centre, chance)}
            size = len(canonical(event)) + bool(events)
            if used + size - room > room - used:
                break
            events.append(event)
            used += size
        attributes |= {"events": events, "hazards": len(events)}

    def _add_data(self, context: Context, attributes: dict[str, Any], length: int, chance: Chance) -> None:
        attributes |= {"hazards": chance.randrange(10), "data": ""}
        missing = max(0, length - len(context.encode()))
        if self._workload.content == "constant":
            attributes["data"] = "x" * missing
        else:
            attributes["data"] = "".join(SYMBOLS[chance.randrange(len(SYMBOLS))] for _ in range(missing))


def _near(centre: dict[str, float], chance: Chance) -> dict[str, float]:
    return {name: round(value + NEAR * (2 * chance.random() - 1), 6) for name, value in centre.items()}
