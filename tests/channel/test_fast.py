"""The fast path and the general one do the same: equal datagrams at equal times, equal events."""

from __future__ import annotations

from itertools import count
from random import Random

import pytest

from overlay.channel import ChannelSettings, fast
from overlay.core.links import LinkShape
from tests.channel.lossy import Node, World
from tests.channel.test_machine import SHAPES
from tests.thorough import examples

IDS = (b"b0", b"b1", b"b2")


def course(seed):
    """What happens in one history drawn from ``seed``, mostly of messages one by one."""
    Node.lives = count()
    chance = Random(seed)
    shape = chance.choice([*SHAPES, LinkShape(delay_ms=3)])
    is_sealed = bool(shape.corruption) or chance.random() < 0.5
    world = World(IDS, ChannelSettings(chance.choice([2, 256]), 30, 200), shape, seed, is_sealed=is_sealed)
    world.open(b"b0", b"b1")
    world.open(b"b1", b"b2", keep=True)
    world.run(100)
    for _ in range(60):
        a, b = chance.sample(IDS, 2)
        what = chance.randrange(20)
        if what < 14:
            world.send(a, b, chance.choice([30, 40, 150, 400]), chance.choice([None, None, 1]))
        elif what == 14:
            world.pause(a, b)
        elif what == 15:
            world.move(a)
        elif what == 16:
            world.restart(a)
            world.open(a, b)
        elif what == 17:
            world.call(a, "close", b, world.now)
        else:
            world.resume(a, b)
        world.run(chance.choice([0, 1, 5, 30, 300]))
    world.settle()
    return world


@pytest.mark.parametrize("seed", range(examples(32)))
def test_both_paths_agree(seed, monkeypatch):
    taken, real = [], (fast.take, fast.send)
    monkeypatch.setattr(fast, "take", lambda *given: real[0](*given) and not taken.append("take"))
    monkeypatch.setattr(fast, "send", lambda *given: real[1](*given) and not taken.append("send"))
    quick = course(seed)
    monkeypatch.setattr(fast, "take", lambda *given: False)
    monkeypatch.setattr(fast, "send", lambda *given: False)
    slow = course(seed)
    assert quick.trace == slow.trace
    assert quick.events == slow.events
    assert taken
