"""Planted mistakes: the stories and their checks find each of them."""

from __future__ import annotations

import pytest

from overlay.systems.radiator.chains.arrivals import Half
from overlay.systems.radiator.chains.chain import Chain
from overlay.systems.radiator.chains.hop import Hop
from overlay.systems.radiator.chains.propagations import Propagations
from overlay.systems.radiator.chains.reports import Reports
from overlay.systems.radiator.chains.transfers import Transfer, Transfers
from overlay.systems.radiator.clients.table import Clients, Entry
from overlay.systems.radiator.middleware.calls import Calls
from tests.radiator.stories import story

SEEDS = 80


def forgets_what_it_has_seen(patch):
    original = Hop._remember
    patch.setattr(Hop, "_remember", lambda self, push, now: original(self, push, now) or True)


def acknowledges_before_it_has_everything(patch):
    original = Half.ack
    patch.setattr(Half, "ack", lambda self: original(self)._replace(base=self.push.segments))


def takes_any_acknowledgement_for_all(patch):
    original = Transfer.acknowledge

    def acknowledge(self, ack):
        return original(self, ack._replace(base=self.push.segments))

    patch.setattr(Transfer, "acknowledge", acknowledge)


def passes_over_a_member_after_a_failed_one(patch):
    original = Chain.first_after

    def first_after(self, position):
        return min(original(self, position) + (self.attempt >= 0), self.last + 1)

    patch.setattr(Chain, "first_after", first_after)


def counts_failed_members_as_delivered(patch):
    def learn(self, position):
        new = list(range(self.known + 1, position + 1))
        self.known = max(self.known, position)
        return new

    patch.setattr(Chain, "learn", learn)
    patch.setattr(Chain, "fail", lambda self, position, attempt: position >= self.at)


def never_gives_up(patch):
    patch.setattr(Propagations, "_give_up", lambda self, propagation, chain: None)


def ignores_silence(patch):
    patch.setattr(Propagations, "_wait", lambda self, propagation, chain, now: None)


def accepts_a_repeated_context_again(patch):
    patch.setattr(Entry, "recall", lambda self, req: None)


def counts_a_lost_client_as_chainable(patch):
    original = Clients.lose

    def lose(self, entry, now):
        is_new = original(self, entry, now)
        self._p2p += is_new and entry.is_p2p
        return is_new

    patch.setattr(Clients, "lose", lose)


def does_not_report_a_silent_member(patch):
    original = Reports.begin

    def begin(self, report, server, now):
        if type(report).__name__ == "Done":
            original(self, report._replace(position=0), server, now)

    patch.setattr(Reports, "begin", begin)
    patch.setattr(Propagations, "_push_to_each", lambda self, propagation, chain, now: None)


def loses_a_push_that_may_not_leave(patch):
    patch.setattr(Propagations, "_pass_over", lambda self, propagation, target, outcome, now: None)


def repeats_for_ever(patch):
    original = Transfers.handle_timer

    def handle_timer(self, now):
        for transfer in self._open.values():
            transfer.tries = 1
        return original(self, now)

    patch.setattr(Transfers, "handle_timer", handle_timer)


def leaves_calls_waiting_after_registration(patch):
    patch.setattr(Calls, "resume", lambda self, epoch, now: None)


BUGS = [
    forgets_what_it_has_seen,
    acknowledges_before_it_has_everything,
    takes_any_acknowledgement_for_all,
    passes_over_a_member_after_a_failed_one,
    counts_failed_members_as_delivered,
    never_gives_up,
    ignores_silence,
    accepts_a_repeated_context_again,
    counts_a_lost_client_as_chainable,
    does_not_report_a_silent_member,
    loses_a_push_that_may_not_leave,
    repeats_for_ever,
    leaves_calls_waiting_after_registration,
]


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_planted_mistake_is_found(bug, monkeypatch):
    bug(monkeypatch)
    with pytest.raises(AssertionError):
        for seed in range(SEEDS):
            story(seed)
