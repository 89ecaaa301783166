"""A story of nodes in virtual time: ``python -m tests.compiled.story`` prints the form that it used, and a digest.

Five peers talk over lossy links, are cut off and restart; brokers' tables on a forest follow clients that come and go;
brokers in a chain route what clients publish, with a link that is cut.
"""

from __future__ import annotations

import json
import sys
from hashlib import blake2b
from random import Random

from overlay.channel import Channel, ChannelSettings
from overlay.compiled.finder import is_used
from overlay.core.chance import Stream
from overlay.core.links import LinkShape, Shaper
from overlay.systems.federation.wire.codec import encode
from overlay.systems.federation.wire.messages import Forward
from tests.federation.forest import Forest
from tests.federation.tree_world import chain

MS = 1_000_000


def channels(told):
    """Every datagram, its time and its destination."""
    random, names = Random(1), [b"b%d" % i for i in range(5)]
    addresses = {name: ("127.0.0.1", 1 + i) for i, name in enumerate(names)}
    nodes = {name: Channel(name, ChannelSettings(), Stream(i)) for i, name in enumerate(names)}
    shaper = Shaper(LinkShape(delay_ms=5, jitter_ms=4, loss=0.1, duplication=0.05, reordering=0.05), Stream(9))
    of = {address: name for name, address in addresses.items()}
    flying = []
    for now in range(0, 4_000 * MS, MS):
        for arrival in [one for one in flying if one[0] <= now]:
            flying.remove(arrival)
            nodes[of[arrival[2]]].receive(arrival[1], arrival[3], now)
        one, other = random.sample(names, 2)
        nodes[one].open(other, addresses[other], now)
        nodes[one].send(other, random.randbytes(random.choice((3, 300, 3_000))), now, random.choice((None, 0, 2)))
        if random.random() < 0.002:
            nodes[one] = Channel(one, ChannelSettings(), Stream(now))
        for name, node in nodes.items():
            if (due := node.next_timer()) is not None and due <= now:
                node.handle_timer(now)
            for data, to in node.datagrams_to_send():
                told.update(b"%d" % now + data)
                flying += [(at, copy, to, addresses[name]) for at, copy in shaper.transmit(data, now)]
            told.update(repr(node.events()).encode())
            node.check_invariants()


def tables(told):
    """Every message between brokers, and what their clients are told."""
    for seed in range(12):
        forest = Forest(seed, covering=("off", "covering", "merging")[seed % 3])
        for _ in range(150):
            forest.step()
        forest.rest()
        told.update(repr(sorted(forest.notified.items())).encode())
        for provider in sorted(name for name in forest.homes if name[0] == "p"):
            told.update(encode(Forward(forest.publish(provider), 1, ("b0",))))


def brokers(told):
    """Every datagram between brokers, what they report, and what consumers hear, over lost sessions and new trees."""
    world = chain(4, covering="covering", cache_cap=1.0, keepalive_s=2.0, exchange_s=1.0)
    world.is_checking = False
    providers = [world.client(f"p{i}", f"b{i}", "climate", "light") for i in range(3)]
    consumers = [world.client(f"c{i}", f"b{3 - i}") for i in range(3)]
    random = Random(7)
    for step in range(80):
        random.choice(consumers).subscribe(random.choice(("climate", "light")), once=random.random() < 0.5, life_s=5)
        random.choice(providers).publish(random.choice(("climate", "light")), data={"x": step})
        if step % 20 == 10:
            world.cut_link("b1-b2")
        if step % 20 == 15:
            world.heal()
        world.run(0.4)
        told.update(repr([(at, data, to) for at, _, data, _, to in sorted(world.flying)]).encode())
    told.update(repr(world.log).encode())
    told.update(repr([sorted(broker.statistics(world.now).items()) for broker in world.brokers]).encode())
    told.update(repr([one.notified for one in consumers]).encode())


def main():
    told = blake2b(digest_size=16)
    brokers(told)
    channels(told)
    tables(told)
    json.dump({"compiled": is_used(), "digest": told.hexdigest()}, sys.stdout)


if __name__ == "__main__":
    main()
