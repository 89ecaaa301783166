"""Whatever happens, in any order: Hypothesis draws it, and shrinks what fails to a short transcript."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from overlay.core.links import LinkShape
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.settings import Settings
from tests.federation.village.plan import SCOPES, TEXTS
from tests.federation.village.village import Village
from tests.federation.village.villager import ENTITIES, NUMBERS
from tests.thorough import THOROUGH

SETTINGS = Settings(keepalive_s=2, broker_keepalive_s=2, exchange_s=1, give_up_s=1)
LINKS = {1: [], 2: [(0, 1)], 3: [(0, 1), (1, 2), (0, 2)], 4: [(0, 1), (1, 2), (2, 3), (0, 3)]}
PROVIDERS = {"p0": ("climate",), "p1": ("climate", "light"), "p2": ("noise",)}
CLIENTS = [*PROVIDERS, "c0", "c1"]
SHAPES = [LinkShape(delay_ms=2), LinkShape(delay_ms=5, jitter_ms=4, loss=0.05, duplication=0.05, reordering=0.1)]


class AnyVillage(RuleBasedStateMachine):
    @initialize(brokers=st.sampled_from([3, 4, 2, 1]), shape=st.sampled_from(SHAPES))
    def begin(self, brokers, shape):
        self.number = brokers
        self.village = Village(brokers, LINKS[brokers], SETTINGS, shape)
        self.village.pass_ms(500)

    def broker(self, number):
        return number % self.number

    def link(self, number):
        links = LINKS[self.number]
        return links[number % len(links)] if links else None

    @rule(name=st.sampled_from(CLIENTS), at=st.integers(0, 3))
    def join(self, name, at):
        self.village.join(name, self.broker(at), PROVIDERS.get(name, ()))

    @rule(
        name=st.sampled_from(["c0", "c1"]),
        scope=st.sampled_from(SCOPES),
        text=st.sampled_from(TEXTS),
        once=st.booleans(),
    )
    def subscribe(self, name, scope, text, once):
        if self.is_there(name):
            self.village.subscribe(name, (scope,), parse(text), once=once)

    @rule(name=st.sampled_from([*PROVIDERS]), entity=st.sampled_from(ENTITIES), x=st.sampled_from(NUMBERS))
    def publish(self, name, entity, x):
        if self.is_there(name):
            self.village.publish(name, PROVIDERS[name][0], entity, x)

    @rule(which=st.integers(0, 9))
    def withdraw(self, which):
        live = sorted(sid for one in self.village.villagers.values() if one.is_live for sid in one.live)
        if live:
            self.village.withdraw(live[which % len(live)])

    @rule(name=st.sampled_from(CLIENTS), ms=st.sampled_from([500, 1_500, 3_000]))
    def hush(self, name, ms):
        self.village.hush(name, ms)

    @rule(name=st.sampled_from(CLIENTS), what=st.sampled_from(["leave", "crash", "move"]))
    def disturb_client(self, name, what):
        if self.is_there(name):
            getattr(self.village, what)(name)

    @rule(
        at=st.integers(0, 3),
        what=st.sampled_from(["crash_broker", "start_broker", "leave_broker", "move_broker"]),
    )
    def disturb_broker(self, at, what):
        getattr(self.village, what)(self.broker(at))

    @rule(what=st.sampled_from(["crash_service", "start_service"]))
    def disturb_service(self, what):
        getattr(self.village, what)()

    @rule(which=st.integers(0, 3), what=st.sampled_from(["cut", "heal"]))
    def disturb_link(self, which, what):
        if self.link(which):
            getattr(self.village, what)(*self.link(which))

    @rule(ms=st.sampled_from([1, 20, 300, 2_000, 5_000]))
    def pass_time(self, ms):
        self.village.pass_ms(ms)

    @precondition(lambda self: self.village.service is not None and self.village.brokers)
    @rule()
    def rest(self):
        self.village.rest()

    def is_there(self, name):
        return name in self.village.villagers and self.village.villagers[name].is_live

    def teardown(self):
        if not hasattr(self, "village"):
            return
        self.village.start_service()
        self.village.start_broker(0)
        self.village.rest()
        self.village.try_everything()


AnyVillage.TestCase.settings = settings(
    max_examples=60 if THOROUGH else 4,
    stateful_step_count=30,
    suppress_health_check=list(HealthCheck),
)
TestAnyVillage = AnyVillage.TestCase
