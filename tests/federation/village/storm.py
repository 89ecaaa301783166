"""What happens in a village, drawn one after the other. Faults that last end with the storm, or last for ever."""

from __future__ import annotations

from overlay.systems.federation.language.text import parse
from tests.federation.village.plan import MERGED_TEXTS, SCOPES, TEXTS
from tests.federation.village.villager import ENTITIES, NUMBERS

EXPRESSIONS = {text: parse(text) for text in (*TEXTS, *MERGED_TEXTS)}
USUAL = {"publish": 12, "subscribe": 8, "withdraw": 2, "join": 3}
WEIGHTS = {
    "client crash": 2,
    "client leave": 2,
    "client move": 3,
    "client hush": 3,
    "client invalid": 3,
    "offline": 3,
    "cut": 2,
}
"""Of the faults; the others have 1."""
LONG, SHORT = 90_000, 4_000
"""Ms that a subscription lives."""


class Storm:
    def __init__(self, village, plan, random):
        self.village, self.plan, self.random = village, plan, random
        self.names = [f"p{i}" for i in range(plan.providers)] + [f"c{i}" for i in range(plan.consumers)]
        faults = {name: WEIGHTS.get(name, 1) for name in sorted(plan.faults) if hasattr(self, _method(name))}
        self.deeds = USUAL | faults
        self.said = []
        """What was done, in words."""

    def begin(self):
        for name in self.names:
            self.join_one(name)

    def step(self):
        what = self.random.choices(list(self.deeds), list(self.deeds.values()))[0]
        getattr(self, _method(what))()
        self.village.pass_ms(self.random.choice([0, 0, 5, 50, 300, 1_000]))

    def calm(self):
        """Some faults that last end."""
        for a, b in sorted(self.village.cuts):
            if self.random.random() < 0.5:
                self._do("heal", a, b)
        for number in range(self.plan.brokers):
            if f"b{number}" not in self.village.brokers and (self.random.random() < 0.5 or not self.village.brokers):
                self._do("start_broker", number)
        for number in sorted(self.village.offline):
            if self.random.random() < 0.7:
                self._do("go_online", number)
        if self.village.service is None:
            self._do("start_service")

    # ---- what clients do

    def join(self):
        away = [name for name in self.names if name not in self.village.villagers]
        if away:
            self.join_one(self.random.choice(away))

    def join_one(self, name):
        scopes = self.random.sample(SCOPES, self.random.randint(1, 2)) if name[0] == "p" else ()
        self._do("join", name, self.random.randrange(self.plan.brokers), scopes)

    def publish(self, name=""):
        """By this provider, or any."""
        if name[:1] != "p":
            name = self._some("p")
        if name:
            scope = self.random.choice(self.village.villagers[name].scopes)
            self._do("publish", name, scope, self.random.choice(ENTITIES), self.random.choice(NUMBERS))

    def subscribe(self):
        name = self._some("c")
        if name:
            scopes = self.random.sample(SCOPES, self.random.randint(1, 2))
            text = self.random.choice(self.plan.texts)
            life_ms, once = self.random.choice([LONG, LONG, SHORT]), self.random.random() < 0.4
            self._do("subscribe", name, scopes, EXPRESSIONS[text], life_ms, once=once)

    def withdraw(self):
        live = sorted(sid for one in self.village.villagers.values() if one.is_live for sid in one.live)
        if live:
            self._do("withdraw", self.random.choice(live))

    # ---- faults

    def client_crash(self):
        self._client("crash")

    def client_leave(self):
        self._client("leave")

    def client_move(self):
        self._client("move")

    def client_hush(self):
        """Perhaps between a notification and its acknowledgement."""
        name = self._some("pc")
        if name:
            settings, random = self.plan.settings, self.random
            self.publish(name)
            self.village.pass_ms(self.plan.shape.delay_ms * random.choice([0, 1.5, 1.5, 2.5, 4]))
            longest = settings.keepalive_s * 1.8 if random.random() < 0.5 else settings.give_up_s * 3
            self._do("hush", name, round(1000 * longest * random.random()))
            for _ in range(random.randint(0, 5)):
                self.village.pass_ms(random.choice([10, 300, 700]))
                self.publish()

    def client_invalid(self):
        """Silent for longer than it is valid, and back before it is removed."""
        name = self._some("c")
        if name:
            valid_ms = 1000 * self.plan.settings.keepalive_s
            self.subscribe()
            self.village.pass_ms(300)
            self._do("hush", name, round(valid_ms * self.random.uniform(1.3, 1.9)))
            self.village.pass_ms(valid_ms * 1.1)
            for _ in range(6):
                self.publish()
                self.village.pass_ms(self.random.choice([0, 5, 100]))

    def broker_crash(self):
        self._broker("crash_broker")

    def broker_restart(self):
        number = self._broker("crash_broker")
        self.village.pass_ms(self.random.choice([0, 10, 500]))
        self._do("start_broker", number)

    def broker_leave(self):
        self._broker("leave_broker")

    def broker_move(self):
        self._broker("move_broker")

    def service_restart(self):
        self._do("crash_service")
        self.village.pass_ms(self.random.choice([0, 100, 3_000]))
        self._do("start_service")

    def cut(self):
        cuts = sorted(self.village.cuts)
        if cuts and self.random.random() < 0.5:
            self._do("heal", *self.random.choice(cuts))
        elif self.plan.links:
            self._do("cut", *self.random.choice(self.plan.links))

    def offline(self):
        """The mobile broker."""
        number = self.plan.settings.mobile_indices[0]
        self._do("go_online" if number in self.village.offline else "go_offline", number)

    # ---- parts

    def _client(self, what):
        name = self._some("pc")
        if name:
            self._do(what, name)

    def _broker(self, what):
        """Some come back."""
        number = self.random.randrange(self.plan.brokers)
        if f"b{number}" not in self.village.brokers:
            what = "start_broker"
        self._do(what, number)
        return number

    def _some(self, kinds):
        there = sorted(name for name, one in self.village.villagers.items() if name[0] in kinds and one.is_live)
        return self.random.choice(there) if there else None

    def _do(self, what, *arguments, **more):
        words = ", ".join([*map(str, arguments), *(f"{name}={value}" for name, value in more.items())])
        self.said.append(f"{self.village.now / 1e9:8.3f} s  {what}({words})")
        return getattr(self.village, what)(*arguments, **more)


def _method(name):
    return name.replace(" ", "_")
