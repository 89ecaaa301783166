"""Queries the servers of a network for their statistics, by their own protocol.

A network keeps no journal, which would grow without limit; queries do not disturb a measurement there.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from brokerweb.networks.sweep import ask_all
from overlay.core.addresses import Address
from overlay.systems.contract import System

DEADLINE_S = 0.5
"""Of all answers; a broker that is gone takes half of it."""


def statistics_of(system: System, brokers: Mapping[int, Address]) -> dict[int, Mapping[str, int]]:
    """Statistics of each server by index; servers that do not answer in time are omitted."""
    question = system.statistics_request(time.time_ns() // 1_000_000)
    if not question:
        return {}
    answers = ask_all(brokers.values(), lambda: question, system.read_statistics, DEADLINE_S)
    return {index: answers[address].said for index, address in brokers.items() if address in answers}
