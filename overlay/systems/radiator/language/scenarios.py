"""The six scenarios of the paper (seed 003, Tables 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scenario:
    title: str
    aggregability: str
    aggregation: str


CUSTOM = Scenario("Custom", "{volume: 1}", "join")
SCENARIOS: Mapping[str, Scenario] = {
    "custom": CUSTOM,
    "1": Scenario("Traffic monitoring", "{time: 300}", "avg(speed) by cell(location)"),
    "2": Scenario("Road hazards", "{volume: 5}", "sum(hazards) by cell(location)"),
    "3": Scenario("Popular spots", "{volume: 1} if friend(s, r) else {people: 10}", "count(people) by location"),
    "4": Scenario(
        "Likes",
        "{time: 30} if friend(s, r) else {volume: 5} if friend_of_friend(s, r) else {time: 300}",
        "sum(likes) by object",
    ),
    "5": Scenario(
        "Crowded spaces",
        "{volume: distance_km(s.location, r.location)}",
        "list(people) by distance(s.location, r.location)",
    ),
    "6": Scenario("Stock alerts", "{time: 1000 / (1 + r.num_of_shares)}", "newest(values) by share"),
}
"""By the value of the setting ``scenario``."""
