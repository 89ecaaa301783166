"""Events of a network and its brokers, from its supervisor's journal.

Counterparts: ``overlay.runtime.deployment_runner`` writes the events, ``telemetry.live.event_words`` describes them.
Available on the host with the network's directory.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.kit.follower_cache import Following
from brokerweb.kit.moments import moment
from brokerweb.networks.models import Network
from overlay.journal.facts import Event, Start
from overlay.journal.journal import JournalTail
from telemetry.live.event_words import EventWords
from telemetry.summary.processes import Servers
from telemetry.systems.registry import telemetry_of

KEPT = 8
"""Maximum number of followed journals."""
MOST = 50
"""Number of latest events shown."""


class _History:
    """The latest events of one journal, which may have been started several times."""

    def __init__(self, path: Path, words: EventWords) -> None:
        self._words = words
        self._tail = JournalTail(path, (Start, Event))
        self._zero_us = 0
        self._events: deque[dict[str, Any]] = deque(maxlen=MOST)

    def read(self) -> list[dict[str, Any]]:
        for fact in self._tail.read_new():
            if isinstance(fact, Start):
                self._zero_us = fact.zero_unix_us
            elif isinstance(fact, Event):
                at_s = (self._zero_us + fact.at_us) / 1e6
                self._events.append({"t_s": at_s, "process": fact.process, "name": fact.name, "detail": fact.detail})
        return self._words.happened(self._events)


_histories: Following[tuple[str, int], _History] = Following(KEPT)


def newest(network: Network) -> list[dict[str, Any]]:
    """``[{at, words, count, kind}]``, newest first; empty without a journal."""
    path = Path(settings.VAR) / "networks" / network.pk / "journal" / "supervisor.journal"
    found = _histories.look((network.pk, network.version), lambda: _History(path, _words(network)), _History.read)
    return [{**one, "at": moment(one["t_s"] * 1000)} for one in reversed(found)]


def _words(network: Network) -> EventWords:
    telemetry = telemetry_of({"system": network.system})
    return EventWords(
        telemetry, Servers.of({"topology": network.deployed, "settings": network.settings}, telemetry.system)
    )
