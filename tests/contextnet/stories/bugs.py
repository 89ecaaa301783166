"""A bank of planted bugs, which the stories must find.

To plant one, write a function here that is given the real function and returns the wrong one;
``python -m tests.soak --system contextnet --search`` then says which seed is the first to find it.
"""

from __future__ import annotations

from overlay.log import core as log
from overlay.log.core import LogCore
from overlay.systems.contextnet.gateway.groups import Groups
from overlay.systems.contextnet.gateway.inbound import FromNodes
from overlay.systems.contextnet.gateway.outbound import ToNodes
from overlay.systems.contextnet.gateway.parcels import Pool
from overlay.systems.contextnet.gateway.presence import PresenceOfNodes
from overlay.systems.contextnet.mtd.sightings import Sightings
from overlay.systems.contextnet.nodes.recent import Recent
from overlay.systems.contextnet.routing.directory import Directory
from overlay.systems.contextnet.transport.sender import Sender
from tests.soak.subject import Bank

BUGS = Bank()
plant = BUGS.plant


# ---- the transport


@plant(Sender, "undelivered", seed=0)
def one_message_is_forgotten_at_a_break(real):
    """Of those that a broken connection leaves, the first one is not among what is stored."""
    return lambda self: real(self)[1:]


@plant(Sender, "restart", seed=0)
def sequences_go_on_after_a_restart(real):
    """A new connection that resumes nothing begins with a hole."""

    def restart(self):
        real(self)
        self.acked = 1

    return restart


# ---- gateways


@plant(FromNodes, "_durable", seed=0)
def inputs_are_counted_for_ever(real):
    """The oldest input that is done is not taken off, so that the gateway seems busy."""

    def _durable(self, item, receipt, then):
        real(self, item, receipt, then)
        self._inputs.appendleft(item)

    return _durable


@plant(ToNodes, "_store", seed=0)
def what_is_absent_is_settled_at_once(real):
    """A message for a node that is not there is settled, and not stored."""
    return lambda self, parcel, node, epoch, reason: self._done(parcel)


@plant(Pool, "end", seed=0)
def the_pool_never_empties(real):
    """What was acknowledged keeps its place in the pool."""
    return lambda self, errand: None


@plant(PresenceOfNodes, "is_ours", seed=161)
def records_from_before_a_move_are_passed_over(real):
    """With routing everyone, the last holder alone answers for a record, also if it came after the record."""

    def is_ours(self, node, appended_us):
        holder = self._holders.get(node)
        return self._answers_for("" if holder is None else holder.gateway)

    return is_ours


@plant(Groups, "addressed", seed=28)
def groups_reach_everybody(real):
    """A message to a group goes to all nodes."""
    return lambda self, group, present: list(present)


# ---- store, senders, memory


@plant(Sightings, "reachable", seed=0)
def the_store_sends_to_the_connection_that_failed(real):
    """A stored message goes to the same connection again and again."""

    def reachable(self, node, epoch, stored_us):
        found = self._nodes.get(node)
        return found if found is not None and found.is_connected and found.epoch > epoch + 1 else None

    return reachable


@plant(Recent, "add", seed=0)
def repeats_are_handled(real):
    """A message that comes again is handled again."""

    def add(self, id, now):
        real(self, id, now)
        return True

    return add


@plant(Directory, "route", seed=0)
def absent_nodes_get_nothing(real):
    """A sender that knows no gateway of a node writes to the first gateway."""
    return lambda self, node: real(self, node)._replace(topic="gateway.gateway-0")


# ---- the log


@plant(LogCore, "_can_read", seed=0)
def readers_without_room_spin(real):
    """A reader is stepped again and again for records that it has no room for."""

    def _can_read(self, link):
        return not link.unread.keys().isdisjoint(link.member.held)

    return _can_read


@plant(log, "beaten", seed=0)
def a_partition_has_two_owners(real):
    """A member takes what another one owns."""

    def beaten(leases, alive, member):
        found = real(leases, alive, member)
        return tuple(one._replace(owner=member) for one in found)

    return beaten
