"""How commands print notifications, and what becomes of a registration."""

from __future__ import annotations

import json
import time
from argparse import Namespace

from overlay.core.node import SECOND
from overlay.programs.text import say, tell
from overlay.systems.federation import notification_json
from overlay.systems.federation.clients.events import Event, Lost, Registered
from overlay.systems.federation.clients.registering import UNKNOWN
from overlay.systems.federation.clients.terms import Terms
from overlay.systems.federation.contextml.scalars import LAST_MS
from overlay.systems.federation.wire.values import Notification


def show(given: Namespace, one: Notification, before: str = "", after: str = "") -> None:
    if given.json:
        say(json.dumps(notification_json.written(one)))
        return
    at = time.strftime("%H:%M:%S", time.localtime(min(one.timestamp, LAST_MS) / 1_000)) + f".{one.timestamp % 1_000:03}"
    data = json.dumps(one.data, ensure_ascii=False)
    words = [before + at, one.scope, f"{one.entity_type}/{one.entity_id}", data, after]
    say("  ".join(word for word in words if word))


class Registration:
    """Tells where a client is registered, and when it no longer is."""

    def __init__(self, name: str, terms: Terms) -> None:
        self._name, self._terms = name, terms
        self._broker = ""
        """The one that was told of last, until it is lost."""

    def see(self, event: Event) -> None:
        match event:
            case Registered(broker) if broker != self._broker:
                self._broker = broker
                tell(f"{self._name} is registered at {broker}")
            case Lost(broker, reason, words):
                self._broker = ""
                tell(f"lost {broker} ({reason}), looking for a broker")
                if reason == UNKNOWN:
                    tell(self._advice(words))
            case _:
                pass

    def _advice(self, words: str) -> str:
        """For who sends keep-alives less often than the network wants."""
        every, period = self._terms.keepalive_every / SECOND, self._terms.settings.keepalive_s
        sends = (
            f"Keep-alives are sent every {every:g} s: if keepalive_s of the network is below {period:g}, give it with"
        )
        return f"{words} {sends} --keepalive.".lstrip()
