"""A bank of planted bugs, which the stories and their watchers must find.

To plant one, write a function here that is given the real function and returns the wrong one;
``python -m tests.soak --system radiator --search`` then says which seed is the first to find it.
"""

from __future__ import annotations

from dataclasses import replace

from overlay.systems.radiator.aggregation.algorithm import Algorithm
from overlay.systems.radiator.aggregation.classes import Classes
from overlay.systems.radiator.aggregation.literal import Literal
from overlay.systems.radiator.aggregation.queues import Deadlines, Queue
from overlay.systems.radiator.chains import forming
from overlay.systems.radiator.chains.arrivals import Half
from overlay.systems.radiator.chains.chain import Chain
from overlay.systems.radiator.chains.forming import Former
from overlay.systems.radiator.chains.hop import Hop
from overlay.systems.radiator.chains.propagation import Outcome
from overlay.systems.radiator.chains.propagations import Propagations
from overlay.systems.radiator.chains.repair import Repair
from overlay.systems.radiator.chains.transfers import Transfer
from overlay.systems.radiator.chains.uplink import Uplink
from overlay.systems.radiator.clients.table import Clients, Entry
from overlay.systems.radiator.language import aggregates
from overlay.systems.radiator.language.aggregability import Aggregability
from overlay.systems.radiator.middleware.calls import Calls
from overlay.systems.radiator.middleware.middleware import Middleware
from overlay.systems.radiator.server import registrar
from overlay.systems.radiator.server.retention import Retention
from overlay.systems.radiator.server.server import Server
from overlay.systems.radiator.server.shares import Shares
from tests.soak.subject import Bank, Function

BUGS = Bank()
plant = BUGS.plant


# ---- the table of clients, and calls


@plant(Entry, "recall", seed=3)
def repeated_calls_are_new_ones(real: Function) -> Function:
    """A CONTEXT that is repeated is accepted again."""
    return lambda self, req: None


@plant(Clients, "lose", seed=3)
def lost_clients_count_for_chains(real: Function) -> Function:
    """An unreachable client still counts for the length of chains."""

    def lose(self, entry, now):
        is_new = real(self, entry, now)
        self._p2p += is_new and entry.is_p2p
        return is_new

    return lose


@plant(Clients, "register", seed=176)
def collisions_take_over(real: Function) -> Function:
    """A second instance takes the place of one that is reachable."""

    def register(self, address, id, instance, attributes, **more):
        known = self._entries.get((address[0], id))
        if known is not None and known.instance != instance:
            self.lose(known, more["now"])
        return real(self, address, id, instance, attributes, **more)

    return register


@plant(Clients, "_revive", seed=1)
def lost_for_good(real: Function) -> Function:
    """A sign of life does not make a client reachable."""
    return lambda self, entry, now: None


@plant(Clients, "forget", seed=3)
def nobody_is_forgotten(real: Function) -> Function:
    """Unreachable clients are never deleted."""
    return lambda self, now: []


@plant(Server, "_drop", seed=5)
def dropped_without_an_account(real: Function) -> Function:
    """What was pending for a client that is lost is not in the journal."""

    def drop(self, entry, reason, now):
        if reason is Outcome.UNREACHABLE:
            self._aggregator.drop(entry, now)
        else:
            real(self, entry, reason, now)

    return drop


@plant(Server, "_silent", seed=1)
def silent_clients_stay(real: Function) -> Function:
    """A client that no push reaches is left in the loop, with what is pending for it."""
    return lambda self, member, now: self.clients.lose(self.clients.get(member.key), now)


@plant(Server, "_hear", seed=1)
def back_without_a_place_in_the_loop(real: Function) -> Function:
    """A client that shows life is reachable, and Algorithm 1 does not learn of it."""
    return lambda self, instance, source, now: self.clients.hear(source[0], instance, now)


@plant(Shares, "refusal", seed=0)
def retained_without_limit(real: Function) -> Function:
    """retained_max is ignored."""
    return lambda self, caller: None


@plant(Propagations, "close", seed=11)
def a_shutdown_forgets_what_is_in_flight(real: Function) -> Function:
    """What is in flight at a shutdown has no outcome."""
    return lambda self: self._transfers.clear()


@plant(registrar, "token_of", seed=32)
def anybody_is_registered(real: Function) -> Function:
    """One token is right for all addresses, so that a registration that is repeated from elsewhere counts."""
    return lambda secret, source, epoch: 7


@plant(Calls, "resume", seed=1)
def calls_wait_after_registration(real: Function) -> Function:
    """Calls that waited for the registration are not sent."""
    return lambda self, epoch, now: None


@plant(Calls, "resume", seed=49)
def calls_survive_a_restart(real: Function) -> Function:
    """A call that an earlier life of the server may have accepted is sent to the next one."""

    def resume(self, epoch, now):
        for call in self._open.values():
            call.epoch = epoch
        real(self, epoch, now)

    return resume


@plant(Middleware, "_renew", seed=2)
def nobody_registers_again(real: Function) -> Function:
    """REGISTER_AGAIN is ignored."""
    return lambda self, now: None


# ---- Algorithm 1 and aggregation


@plant(Classes, "_became", seed=6)
def changed_recipients_are_not_scanned(real: Function) -> Function:
    """A changed C_R has no effect on what is pending."""
    return lambda self, recipient, now: None


@plant(Deadlines, "add", seed=0)
def deadlines_are_forgotten(real: Function) -> Function:
    """Queues wait for arrivals."""
    return lambda self, deadline, owner, queue: None


@plant(Literal, "_first_deadline", seed=2)
def literal_has_no_deadlines(real: Function) -> Function:
    """The literal form has no timer."""
    return lambda self: None


@plant(Queue, "is_satisfied", seed=1)
def queues_leave_one_message_late(real: property) -> property:
    """Two more messages than the volume, or people."""

    def is_satisfied(self):
        kind, value = self.threshold
        return len(self.messages) > value if kind == "volume" else real.fget(self)

    return property(is_satisfied)


@plant(Queue, "copy", seed=1)
def classes_that_part_share_queues(real: Function) -> Function:
    """A recipient that leaves a class still shares its queues."""
    return lambda self: self


@plant(Aggregability, "class_key", seed=6)
def all_are_of_one_class(real: Function) -> Function:
    """What a function reads of the recipient does not matter."""
    return lambda self, attributes, recipient_id: b""


@plant(Algorithm, "_audience", seed=1)
def the_audience_is_everyone(real: Function) -> Function:
    """The audience of a message is ignored."""
    return lambda self, message: None


@plant(Algorithm, "_release", seed=0)
def retained_for_ever(real: Function) -> Function:
    """Messages that left still count as retained."""
    return lambda self, messages: None


@plant(aggregates, "join", seed=18)
def joined_time_ends_with_the_newest(real: Function) -> Function:
    """The time span of an aggregate is not the largest of all."""
    return lambda contexts: replace(real(contexts), end=contexts[-1].end)


@plant(aggregates, "join", seed=1)
def a_value_is_joined_once(real: Function) -> Function:
    """Equal values of an attribute become one."""

    def join(contexts):
        joined = real(contexts)
        if len(contexts) == 1:
            return joined
        once = {
            name: [one for at, one in enumerate(all) if one not in all[:at]] for name, all in joined.attributes.items()
        }
        return replace(joined, attributes=once)

    return join


@plant(Retention, "halve", seed=1)
def halves_without_the_middle(real: Function) -> Function:
    """A large aggregate of which halves are made loses a message."""

    def halve(self, emission):
        first, second = real(self, emission)
        return (
            (first, self._emission(second.originals[1:], second.recipients)) if second.messages[1:] else (first, second)
        )

    return halve


# ---- chains


@plant(Former, "_groups", seed=0)
def chains_of_everyone(real: Function) -> Function:
    """Clients that accept no pushes of others are in chains."""

    def groups(self, recipients, p2p_clients):
        chains, direct = real(self, recipients, p2p_clients)
        return ([*chains, direct], []) if chains and direct else (chains, direct)

    return groups


@plant(forming, "chain_length", seed=2)
def chains_one_too_long(real: Function) -> Function:
    """Lengths are rounded up."""
    return lambda percent, base: int(percent * base / 100) + 1


@plant(forming, "cut", seed=0)
def the_rest_is_in_no_chain(real: Function) -> Function:
    """The last chain is dropped if it is short."""

    def cut(members, length, chance, chainability=None):
        chains = real(members, length, chance, chainability)
        return [chain for chain in chains if len(chain) == min(length, len(members))]

    return cut


@plant(forming, "cut", seed=0)
def chainability_is_ignored(real: Function) -> Function:
    """Chains are in random order."""
    return lambda members, length, chance, chainability=None: real(members, length, chance)


@plant(Hop, "_remember", seed=24)
def hops_forget_what_they_delivered(real: Function) -> Function:
    """Every attempt is delivered."""
    return lambda self, push, now: real(self, push, now) or True


@plant(Hop, "_forgets_at", seed=68)
def hops_forget_too_early(real: Function) -> Function:
    """Propagations are remembered for a second."""

    def forgets_at(self):
        at = real(self)
        return None if at is None else at - self._remembers + 10**9

    return forgets_at


@plant(Chain, "learn", seed=2)
def reports_say_too_much(real: Function) -> Function:
    """A report is taken for one about the next member, too."""
    return lambda self, position: real(self, min(position + 1, self.last))


@plant(Hop, "admit", seed=2)
def the_first_key_is_kept(real: Function) -> Function:
    """After a restart of the server its pushes are refused."""
    return lambda self, id, epoch, key: None if self._key else real(self, id, epoch, key)


@plant(Half, "ack", seed=28)
def acknowledged_before_it_is_complete(real: Function) -> Function:
    """The first segments acknowledge all."""
    return lambda self: real(self)._replace(base=self.push.segments)


@plant(Transfer, "acknowledge", seed=28)
def any_ack_acknowledges_all(real: Function) -> Function:
    """A sender takes an ACK of some segments for one of all."""
    return lambda self, ack: real(self, ack._replace(base=self.push.segments))


@plant(Chain, "first_after", seed=5)
def a_member_is_passed_over(real: Function) -> Function:
    """A repair begins one member too late."""

    def first_after(self, position):
        return min(real(self, position) + (self.attempt >= 0), self.last + 1)

    return first_after


@plant(Chain, "learn", seed=41)
def failed_members_count_as_delivered(real: Function) -> Function:
    """A report about a position is taken for one about all members before it, failed ones too."""

    def learn(self, position):
        self.failed.clear()
        return real(self, position)

    return learn


@plant(Repair, "_wait", seed=5)
def silence_is_ignored(real: Function) -> Function:
    """A chain of which nothing is heard is not repaired."""
    return lambda self, propagation, chain, now: None


@plant(Repair, "pass_over", seed=83)
def a_push_that_may_not_leave_is_lost(real: Function) -> Function:
    """The members after an absent one get nothing."""
    return lambda self, propagation, target, outcome, now: None


@plant(Propagations, "withdraw", seed=158)
def pushes_go_on_to_the_next_owner(real: Function) -> Function:
    """What is under way to a client goes on to another one that has its address now (a real one, ``docs/bugs.md``)."""
    return lambda self, address, instance, now: None


# ---- bytes


@plant(Uplink, "_leave", seed=3)
def answers_count_nothing(real: Function) -> Function:
    """Datagrams that are no pushes are not counted."""

    def leave(self, data, to, size, at, transfer, spared):
        real(self, data, to, size, at, transfer, spared)
        self.bytes_sent -= 0 if transfer else size

    return leave


@plant(Uplink, "__init__", seed=122)
def the_uplink_is_too_fast(real: Function) -> Function:
    """By half."""
    return lambda self, rate, may_leave, left: real(self, rate * 3 // 2, may_leave, left)


@plant(Uplink, "mend", seed=3)
def a_cut_never_ends(real: Function) -> Function:
    """The uplink stays cut."""
    return lambda self, now: None


@plant(Hop, "_send_part", seed=46)
def forwarded_repeats_count_nothing(real: Function) -> Function:
    """Segments that a client repeats are not counted."""

    def send_part(self, transfer, segment, is_repeat, now):
        count = self.counts["client_to_client_bytes"]
        real(self, transfer, segment, is_repeat, now)
        if is_repeat:
            self.counts["client_to_client_bytes"] = count

    return send_part
