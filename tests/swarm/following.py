"""Whoever follows the feed of a broker's table through its restarts has what the broker holds.

The pages are taken from the table itself: no datagram is added, so stories stay what they are.
"""

from collections import Counter
from itertools import count

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.sim.actors import NodeActor
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.feed import Feed
from overlay.systems.context_broker.clients.feed_reader import FeedReader
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.feed_messages import FeedRequest, FeedResponse
from overlay.systems.context_broker.wire.messages import key_of
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.swarm.watcher import Readers, Watcher

GAP = 20
"""Steps of a broker from one question to the next."""


class Following(Watcher):
    def __init__(self, overlay: Overlay, readers: Readers | None = None) -> None:
        super().__init__(overlay, readers)
        self._readers: dict[Address, FeedReader] = {}
        self._epochs: dict[NodeActor, int] = {}
        self._offsets: dict[NodeActor, int] = {}
        self._steps: Counter[NodeActor] = Counter()
        self._stamps = count(1)

    def stepped(self, now: int, actor: NodeActor, broker: Broker) -> None:
        table = broker._storing.table
        offset = broker._station.wall_offset_ns
        if actor not in self._epochs:
            self._epochs[actor] = len(self._epochs) + 1
            self._offsets[actor] = offset
            table.feed = Feed(table)
        if offset != self._offsets[actor]:  # what has expired for one of the two may be valid again for the other
            table.feed = None
            return
        self._steps[actor] += 1
        if table.feed is not None and self._steps[actor] % GAP == 0:
            self._follow(actor, broker, table.feed, (now + offset) // MILLISECOND)

    def _follow(self, actor: NodeActor, broker: Broker, feed: Feed, wall_ms: int) -> None:
        reader = self._readers.setdefault(broker.address, FeedReader(most_bytes=500))
        for _ in range(100):
            request = parse(reader.ask(next(self._stamps)))
            assert isinstance(request, FeedRequest)
            epoch = self._epochs[actor]
            page = feed.page(request.after if request.epoch == epoch else 0, request.most_bytes, wall_ms)
            numbers = page.after, page.next, feed.last
            reader.read(encode(FeedResponse(request.timestamp, epoch, *numbers, page.records)), wall_ms)
            if not reader.has_more:
                break
        known = {(one.key, one.provider, one.timestamp, one.payload) for one in reader.valid(wall_ms)}
        held = {
            (key_of(one.key), one.provider, one.timestamp, one.payload)
            for one in broker._storing.table
            if one.is_valid(wall_ms)
        }
        assert known == held, f"whoever follows {broker.address} knows {known ^ held} wrongly"
