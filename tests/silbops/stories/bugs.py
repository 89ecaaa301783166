"""A bank of planted bugs, which the stories must find.

To plant one, write a function here that is given the real function and returns the wrong one;
``python -m tests.soak --system silbops --search`` then says which seed is the first to find it.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from overlay.systems.silbops.broker.clients import Clients
from overlay.systems.silbops.broker.leaving import Leaving
from overlay.systems.silbops.broker.pressure import Pressure
from overlay.systems.silbops.broker.requests import Requests
from overlay.systems.silbops.broker.routing import Routing
from overlay.systems.silbops.clients.siena import Siena
from overlay.systems.silbops.index.access import Access
from overlay.systems.silbops.repeats import Repeats
from overlay.systems.silbops.tables.forwarded import Forwarded
from overlay.systems.silbops.tables.outlet import Outlet
from overlay.systems.silbops.tables.pruning import Pruning
from overlay.systems.silbops.tables.tables import Tables
from tests.soak.subject import Bank

BUGS = Bank()
plant = BUGS.plant


# ---- full queues


@plant(Pressure, "is_felt", seed=0)
def they_wait_for_a_queue_that_is_gone(real):
    """When the session with the full queue ends, those who wait for it go on waiting."""
    return property(lambda self: bool(self._full))


# ---- clients that move


@plant(Leaving, "pass_on", seed=14)
def nothing_is_passed_on(real):
    """The old broker drops what still comes to it."""
    return lambda self, owner, note: False


@plant(Repeats, "is_new", seed=3)
def repeats_are_delivered(real):
    """A notification that comes by the old and the new broker is delivered twice."""

    def is_new(self, publisher, number):
        real(self, publisher, number)
        return True

    return is_new


@plant(Clients, "take_kept", seed=33)
def kept_ones_are_lost(real):
    """What was kept for a client that was away is not sent."""

    def take_kept(self, client):
        real(self, client)
        return ()

    return take_kept


@plant(Requests, "restore", seed=12)
def contexts_stay_behind(real):
    """A client that moves has no context at its new broker until it sets the next."""
    return lambda self, client, take: real(
        self,
        client,
        type(take)(take.client, take.owner, None, take.subscriptions, take.advertisements, take.kept, take.is_last),
    )


# ---- tables


@plant(Tables, "set_context", seed=1)
def contexts_never_change(real):
    """The first context that a broker hears of a subscriber stays."""

    def set_context(self, link, owner, context):
        return self.contexts.get(owner) is None and real(self, link, owner, context)

    return set_context


@plant(Tables, "unsubscribe", seed=3)
def subscriptions_never_end(real):
    """A subscription that is withdrawn is still served."""
    return lambda self, link, key: True


@plant(Outlet, "touch_context", seed=1)
def neighbours_hear_no_change_of_context(real):
    """A context that was told is not told again."""
    return lambda self, owner: None


@plant(Pruning, "_wake", seed=6)
def what_is_pruned_stays_pruned(real):
    """A subscription that was withdrawn while no publisher was near does not come back."""
    return lambda self, key: None


@plant(Forwarded, "put", seed=218)
def what_is_offered_unchanged_is_placed_again(real):
    """Of equal subscriptions of an owner, two neighbours tell each other now this one, now that one."""

    def put(self, one):
        changed = self.drop(one.key)
        self._place(one, changed)
        return changed

    return put


@plant(Access, "match", seed=0)
def only_the_first_subscription_is_found(real):
    """The index gives one of the subscriptions that match."""
    return lambda self, values: real(self, values)[:1]


# ---- messages


@plant(Routing, "forward", seed=1)
def publications_are_not_passed_on(real):
    """A broker serves its own clients only."""

    def forward(self, link, pub):
        mine = self._station.pressure.send_each
        self._station.pressure.send_each = lambda peers, message: None
        try:
            real(self, link, pub)
        finally:
            self._station.pressure.send_each = mine

    return forward


@plant(Routing, "forward", seed=0)
def two_publications_change_places(real):
    """Of a publisher's publications that come from neighbours, the first waits for the second and goes after it."""
    held = WeakKeyDictionary()

    def forward(self, link, pub):
        first = held.setdefault(self, {}).setdefault(pub.publisher, pub)
        if first is None:
            real(self, link, pub)
        elif first is not pub:
            real(self, link, pub)
            real(self, link, first)
            held[self][pub.publisher] = None

    return forward


@plant(Tables, "route", seed=1)
def functions_of_publishers_admit_all(real):
    """Whom a publisher means is not looked at."""
    return lambda self, link, values, context, admit=None: real(self, link, values, context)


@plant(Requests, "_set_context", seed=11)
def contexts_renew_nothing(real):
    """Subscriptions end when their validity is over, whatever their owner sets."""

    def set_context(self, client, message):
        before = client.renewed_at
        real(self, client, message)
        client.renewed_at = before

    return set_context


@plant(Siena, "_tell", seed=0)
def siena_forgets_the_context(real):
    """A subscription of the siena arm is sent without what its function becomes."""

    def tell(self, id, row):
        return real(self, id, row._replace(filter=self.wanted[id].filter))

    return tell
