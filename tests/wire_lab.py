"""What tests of wire labs on the channel have in common."""

from __future__ import annotations

from itertools import pairwise

from overlay.core.node import MILLISECOND

OWN = ("127.0.0.1", 9)


def without_gap(data, found):
    """The segments are all of it, in order and without a gap."""
    assert b"".join(data[one.offset : one.end] for one in found.segments) == data
    assert all(after.offset == before.end for before, after in pairwise(found.segments))
    return found


def said_to(lab, data, village, name, chance, now_ms):
    """The names of what the lab hears of a server in a network that answers at once."""
    exchange = lab.exchange(data, chance, now_ms)
    exchange.start(village.now)
    server = village.nodes[name]
    while not exchange.is_over:
        for one in exchange.to_send():
            server.receive_datagrams([(one, OWN)], village.now)
        for one, to in server.datagrams_to_send():
            if to == OWN:
                exchange.receive(one, village.now)
        village.now = min(exchange.next_timer(), village.now + 20 * MILLISECOND)
        exchange.handle_timer(village.now)
        server.handle_timer(village.now)
    for one in exchange.to_send():
        server.receive_datagrams([(one, OWN)], village.now)
    return [lab.name_of(one.data) for one in exchange.heard]
