"""Where the answer to a message goes, by the ``reply_to`` of the message. Pure."""

from __future__ import annotations

from typing import Final

REPLY_TO_MQTT: Final = "mqtt:"
"""Before the id of a client of MQTT, in the ``reply_to`` of its messages: the answer goes to topic ``mqtt_down``, with
the id as its key."""


def mqtt_client(reply_to: str) -> str | None:
    """The id of the client of MQTT; ``None``: the answer is for a node or a topic."""
    return reply_to.removeprefix(REPLY_TO_MQTT) if reply_to.startswith(REPLY_TO_MQTT) else None
