"""A consumer among three brokers that forget, refuse, fall silent and start again: in the end each broker knows what
is true, and nothing waits for ever."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from overlay.core.chance import Stream
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.events import Accepted, Answered, Ended, Notified, Verdict
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.terms import PATIENCE
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Notification, NotificationId
from tests.federation.clients.world import World
from tests.thorough import examples

HOUR_MS = 3_600_000
CODES = st.sampled_from([m.Code.INVALID, m.Code.UNKNOWN, m.Code.LIMIT, m.Code.BAD])
WHICH = st.integers(0, 2)


class AnySession(RuleBasedStateMachine):
    @initialize(discovery=st.sampled_from(["manual", "bdrs", "multicast"]), keepalive_s=st.sampled_from([2.0, 20.0]))
    def start(self, discovery, keepalive_s):
        self.world = World(3, discovery=discovery, keepalive_s=keepalive_s, give_up_s=2.0)
        self.world.service.found = self.world.found(2, 0, 1)
        self.client = self.world.add(Consumer(self.world.terms, "c0", self.world.site(), Stream(7), 0))
        self.live, self.asked, self.notes, self.got = {}, {}, 0, set()

    @property
    def broker(self):
        return next(one for one in self.world.brokers if one.name == self.client.broker)

    @rule(seconds=st.sampled_from([0.2, 0.01, 1.0, 5.0]), once=st.booleans(), life_ms=st.sampled_from([HOUR_MS, 3000]))
    def subscribe(self, seconds, once, life_ms):
        wanted = Wanted(("climate",), self.world.wall_ms + life_ms, once=once)
        (one,) = self.client.subscribe([wanted], self.world.now)
        assert one.id.number > max(self.live, default=0)
        self.live[one.id.number] = one
        self.run(seconds)

    @rule(data=st.data())
    def withdraw(self, data):
        if self.live:
            number = data.draw(st.sampled_from(sorted(self.live)))
            self.client.withdraw([number], self.world.now)
            self.run(0)

    @rule(data=st.data(), is_new=st.booleans())
    def notify(self, data, is_new):
        """The broker sends a note to any subscription that it has ever heard of, or one that it has."""
        known = sorted(self.broker.live("c0"))
        if known:
            self.notes += is_new or not self.notes
            now_ms = self.world.wall_ms
            nid = NotificationId("p0", self.notes)
            note = Notification(nid, "room", "r1", "climate", now_ms, now_ms + HOUR_MS, {})
            self.broker.peers.now = self.world.now
            self.broker.notify("c0", note, [data.draw(st.sampled_from(known))])
            self.run(0.1)

    @rule()
    def lookup(self):
        self.asked[self.client.lookup("climate", self.world.now)] = self.world.now

    @rule(which=WHICH)
    def forget(self, which):
        self.world.brokers[which].forget()

    @rule(which=WHICH, codes=st.lists(CODES, max_size=3))
    def refuse(self, which, codes):
        self.world.brokers[which].refuse_next = codes

    @rule(which=WHICH, codes=st.lists(CODES, max_size=2))
    def refuse_registrations(self, which, codes):
        self.world.brokers[which].refuse_register = codes

    @rule(which=st.integers(0, 3), seconds=st.sampled_from([1.0, 4.0, 9.0]))
    def silence(self, which, seconds):
        """Of a broker, or of the registration service."""
        address = [*self.world.brokers, self.world.service][which].address
        self.world.cut.add(address)
        self.run(seconds)
        self.world.cut.discard(address)

    @rule(which=WHICH)
    def fall_mute(self, which):
        self.world.brokers[which].is_mute = not self.world.brokers[which].is_mute

    @rule(which=WHICH)
    def restart(self, which):
        self.world.brokers[which].restart()

    @rule(seconds=st.sampled_from([0.02, 0.5, 3.0, 12.0]))
    def run(self, seconds):
        self.world.run(seconds)
        for event in self.client.events():
            self.note(event)

    def note(self, event):
        match event:
            case Ended(number):
                del self.live[number]
            case Accepted(numbers):
                assert all(number <= self.client.next_number for number in numbers)
            case Answered(req):
                del self.asked[req]
            case Notified(note, receipts):
                for number, verdict, copy in receipts:
                    is_again = (note.id, number) in self.got
                    assert (verdict is Verdict.DUPLICATE) == is_again == (copy > 1)
                    assert verdict is not Verdict.FIRST or number in self.live
                    self.got.add((note.id, number))

    @invariant()
    def numbers_only_rise(self):
        if hasattr(self, "world"):
            for broker in self.world.brokers:
                told = [one.advertisement.registration for one in broker.all(m.Register)]
                assert told == sorted(told) and all(one <= self.client.registration for one in told)
            assert {one.id.number for one in self.client.live} == set(self.live)
            assert all(self.world.now < at + PATIENCE for at in self.asked.values()), "a request waits for ever"

    def teardown(self):
        """All is well again: the client is registered, and its broker has its subscriptions and no others."""
        if not hasattr(self, "world"):
            return
        for broker in self.world.brokers:
            broker.is_mute, broker.refuse_next, broker.refuse_register = False, [], []
        self.run(70)
        assert self.client.is_in and not len(self.client.requests) and not self.asked
        assert all(one.expires > self.world.wall_ms for one in self.live.values())
        assert self.broker.live("c0") == {one.id for one in self.client.live}


TestAnySession = AnySession.TestCase
TestAnySession.settings = settings(max_examples=examples(160), stateful_step_count=15)
