"""A channel behind the seam of nodes needs no driver of its own: real UDP, one thread a node."""

from __future__ import annotations

import threading
from random import Random
from time import monotonic_ns

import pytest

from benchmarks.channel_echo import ID, Echo
from overlay.channel import Channel, ChannelSettings, Message
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import SECOND
from overlay.runtime.udp import NodeDriver, bound_address, open_socket
from tests.waiting import BOUND_S

SETTINGS = ChannelSettings(give_up_s=60)


class Asker:
    """Sends messages, and stops its driver when all are back."""

    def __init__(self, channel, messages):
        self.channel, self.messages, self.back = channel, messages, []
        self.driver = None
        self.handle_timer = channel.handle_timer
        self.next_timer = channel.next_timer
        self.datagrams_to_send = channel.datagrams_to_send

    def receive_datagrams(self, datagrams, now):
        for data, source in datagrams:
            self.channel.receive(data, source, now)
        self.back += [event.message for event in self.channel.events() if isinstance(event, Message)]
        if len(self.back) >= len(self.messages):
            self.driver.stop()

    def events(self):
        return ()


@pytest.mark.parametrize("loss", [0, 0.2])
def test_messages_come_back_in_order_over_real_sockets(loss):
    sockets = [open_socket(("127.0.0.1", 0)) for _ in range(2)]
    there = bound_address(sockets[0])
    shapers = {there: Shaper(LinkShape(loss=loss), Random(1))} if loss else None
    echo = NodeDriver(Echo(Channel(ID, SETTINGS, Random(2))), sockets[0])
    asker = Asker(Channel(b"asker", SETTINGS, Random(3)), [b"%d" % i * 100 for i in range(200)])
    asker.driver = NodeDriver(asker, sockets[1], shapers=shapers)
    asker.channel.open(ID, there, monotonic_ns())
    for message in asker.messages:
        asker.channel.send(ID, message, monotonic_ns())
    thread = threading.Thread(target=echo.run)
    thread.start()
    try:
        asker.driver.run(monotonic_ns() + BOUND_S * SECOND)
    finally:
        echo.stop()
        thread.join()
        for sock in sockets:
            sock.close()
    assert asker.back == asker.messages
