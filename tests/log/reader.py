"""A node that reads and appends, and the log in memory that it is tried with. Each engine has such a class."""

from __future__ import annotations

from collections.abc import Callable

from overlay.core.node import SECOND
from overlay.log.core import LogCore
from overlay.log.node import Start, Subscription
from overlay.log.progress import Progress
from overlay.log.spec import LogSpec
from overlay.log.topics import Append, Topic

TOPICS = (Topic("letters", 4), Topic("addresses", 2, is_compacted=True))
SPEC = LogSpec(TOPICS, member_timeout_s=2.0)


def reads(topic="letters", group="readers", start=Start.COMMITTED, since_s=0):
    return Subscription(topic, group, start, since_s)


class Reader:
    """Settles what it reads at once, unless told to keep it (``keeps``) or to take no more (``most``)."""

    def __init__(self, *subscriptions, keeps=False, most=100):
        self.keeps, self.most = keeps, most
        self.seen, self.kept, self.durable, self.settled = [], [], [], []
        self.owned, self.ends = {}, {}
        self.progress = Progress()
        self._subscriptions, self._appends = subscriptions, []

    @property
    def values(self):
        return [record.value.decode() for record in self.seen]

    def append(self, key, value, topic="letters"):
        self._appends.append(Append(topic, key.encode(), value.encode(), value))

    def subscribe(self, *subscriptions):
        self._subscriptions = subscriptions

    def settle(self):
        for record in self.kept:
            self.progress.settle(record.topic, record.partition, record.position)
            self.settled.append(record.value.decode())
        self.kept = []

    # ---- what drivers call

    def subscriptions(self):
        return self._subscriptions

    def room(self, subscription):
        return max(0, self.most - len(self.kept))

    def assigned(self, partitions, now):
        self.progress.assigned(partitions)
        for found in partitions:
            place = found.topic, found.partition
            assert place not in self.owned, "it was not assigned before"
            self.owned[place], self.ends[place] = found.group, found.end

    def revoked(self, partitions, now):
        self.progress.revoked(partitions)
        for found in partitions:
            del self.owned[found.topic, found.partition]
        self.kept = [record for record in self.kept if (record.topic, record.partition) in self.owned]

    def receive_records(self, records, now):
        assert len(records) + len(self.kept) <= self.most, "it has room"
        for record in records:
            assert (record.topic, record.partition) in self.owned, "only what it owns"
            self.progress.read(record)
        self.seen += records
        self.kept += records
        if not self.keeps:
            self.settle()

    def records_to_append(self):
        appends, self._appends = self._appends, []
        return appends

    def appended(self, tokens, now):
        self.durable += tokens

    def positions_to_commit(self):
        return self.progress.positions_to_commit()


class MemoryLog:
    """``LogCore`` with its members, in virtual time."""

    def __init__(self, spec=SPEC):
        self.core = LogCore(spec, 1_700_000_000 * SECOND)
        self.now = 0
        self.nodes, self._stopped = {}, set()

    def start(self, name, node):
        self.core.start(name, node, self.now)
        self.nodes[name] = node
        self._step(name)
        return node

    def kill(self, name):
        del self.nodes[name]
        self._stopped.discard(name)
        self.core.kill(name, self.now)

    def end(self, name):
        self._step(name)
        del self.nodes[name]
        self.core.end(name, self.now)

    def stop(self, name):
        self._stopped.add(name)
        self.core.stop(name, self.now)

    def resume(self, name):
        self._stopped.discard(name)
        self.core.resume(name, self.now)

    def down(self):
        self.core.set_down(True, self.now)

    def up(self):
        self.core.set_down(False, self.now)

    def turn(self):
        """The next thing happens, between steps of all members."""
        self.step_all()
        timer = self.core.next_timer()
        self.now = max(self.now + 1, timer) if timer is not None else self.now + SECOND
        self.core.handle_timer(self.now)
        self.step_all()
        self.core.check_invariants()

    def until(self, holds: Callable[[], bool]):
        end = self.now + 600 * SECOND
        while not holds():
            assert self.now < end, "it never comes to hold"
            self.turn()

    def while_others_go_on(self, name):
        """The heartbeats of ``name``, which is stopped, are missed."""
        assert name in self._stopped
        end = self.now + 3 * SECOND
        while self.now < end:
            self.turn()

    def close(self):
        pass

    def step_all(self):
        for name in [name for name in self.nodes if name not in self._stopped]:
            self._step(name)

    def _step(self, name):
        self.core.feed(name, self.now)
        self.core.take(name, self.now)
