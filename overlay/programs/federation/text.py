"""How commands print notifications."""

from __future__ import annotations

import json
import time
from argparse import Namespace

from overlay.programs.text import say
from overlay.systems.federation import notification_json
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
