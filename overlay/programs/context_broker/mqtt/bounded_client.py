"""paho's client, which keeps packets of up to 268 MB, and any number of messages of quality of service 2, with bounds.

Written for paho 2.1: ``_sock_recv``, ``_in_packet`` and ``_handle_publish`` are its own names.
"""

from __future__ import annotations

from paho.mqtt.client import Client
from paho.mqtt.enums import MQTTErrorCode

MOST_PACKET_BYTES = 262_144
"""What is kept of one packet; a payload with more than ``payloads.MOST_BYTES`` is refused in any case."""
READ_BYTES = 65_536
READS = 100
"""Of what is dropped, before other work has its turn."""


class BoundedClient(Client):
    def _sock_recv(self, bufsize: int) -> bytes:
        """Drops what is beyond the bound, but for the last byte, with which paho takes the packet for complete."""
        packet = self._in_packet
        for _ in range(READS):
            if len(packet["packet"]) < MOST_PACKET_BYTES or packet["to_process"] <= 1:
                return super()._sock_recv(min(bufsize, packet["to_process"] or 1, READ_BYTES))
            dropped = super()._sock_recv(min(packet["to_process"] - 1, READ_BYTES))
            if not dropped:
                return dropped
            packet["to_process"] -= len(dropped)
        raise BlockingIOError

    def _handle_publish(self) -> MQTTErrorCode:
        """Subscriptions are of quality of service 1: a server may not send 2, which is kept until it is released."""
        is_exactly_once = (self._in_packet["command"] >> 1 & 3) == 2
        return MQTTErrorCode.MQTT_ERR_PROTOCOL if is_exactly_once else super()._handle_publish()
