"""Whom a gateway lets in, over either transport: what strangers may cost, the order of refusals, resumption."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.contextnet.transport.admission import Admission, Rate
from overlay.systems.contextnet.transport.layouts import BadPacket, Refusal, Refuse, Wants
from overlay.systems.contextnet.transport.members import Member, Members
from overlay.systems.contextnet.transport.settings import TransportSettings


class Secret(NamedTuple):
    """Of a node, 32 bytes."""

    key: bytes
    is_revoked: bool = False


class Newcomer(NamedTuple):
    """A node whose HELLO is proven."""

    node: bytes
    epoch: int
    nonce: bytes
    resume_cid: int
    wants: int
    host: str


class Gate:
    def __init__(
        self,
        settings: TransportSettings,
        chance: Chance,
        members: Members,
        secret_of: Callable[[bytes], Secret | None],
        admission: Admission | None,
        is_durable: bool,
        handshakes_per_s: int,
        replace: Callable[[bytes], None],
    ) -> None:
        """``handshakes_per_s``: bound of those that cost processor time. ``replace``: ends the connection of a node
        that does not resume it."""
        self.secret_of = secret_of
        self.gateways: tuple[Address, ...] = ()
        """Alternatives, told with a refusal."""
        self.wall_offset = 0
        self.is_leaving = False
        """Whether new connections are refused."""
        self._settings, self._chance, self._members, self._replace = settings, chance, members, replace
        self._admission, self._is_durable = admission, is_durable
        self._handshakes, self._accepts = Rate(handshakes_per_s), Rate(settings.accept_per_s)

    def greet(self, host: str, now: int) -> None:
        """One more HELLO. Raises ``BadPacket`` if too many come from this host."""
        if self._admission is not None and not self._admission.may_greet(host, now):
            raise BadPacket("hello rate", f"too many HELLOs come from {host}")

    def begin(self, now: int) -> None:
        """A handshake from a proven address. Raises ``BadPacket`` if there are too many."""
        if not self._handshakes.take(now):
            raise BadPacket("handshakes", "too many handshakes a second")

    def is_allowed(self, source: Address) -> bool:
        return self._admission is None or self._admission.is_allowed(source[0])

    def refusal(self, found: Newcomer, is_revoked: bool, now: int) -> Refusal | None:
        """Why it is refused; ``None``: it is to be admitted."""
        if is_revoked:
            return Refusal.SECRET
        if found.epoch <= self._members.epoch_of(found.node):
            return Refusal.EPOCH
        if not found.wants & Wants.LONG_TAG and self._settings.tag_bytes == 16:
            return Refusal.VERSION
        if self.is_leaving or not self._has_room(found):
            return Refusal.FULL
        return None if self._accepts.take(now) else Refusal.BUSY

    def _has_room(self, found: Newcomer) -> bool:
        """For one more connection from this host, or one that takes the place of another."""
        members, host = self._members, found.host
        member = members.by_node.get(found.node)
        is_room = member is not None or len(members.by_node) < self._settings.max_connections
        is_new = member is None or member.host != host
        return is_room and (
            not is_new or self._admission is None or self._admission.may_join(host, members.of_host(host))
        )

    def admit(self, found: Newcomer, now: int) -> tuple[Member, int]:
        """The member, to be joined to its connection, and the id of that."""
        members, node = self._members, found.node
        member = members.by_node.get(node)
        resumed = bool(
            member is not None
            and self._settings.resume
            and found.wants & Wants.RESUME
            and found.resume_cid in member.resumable
        )
        if member is not None and not resumed:
            self._replace(node)
            member = None
        if member is None:
            member = members.add(node, self._is_durable)
        members.retire(member)
        member.sender.resume()
        cid = self._draw_cid()
        member.epoch, member.nonce, member.accepted_at = found.epoch, found.nonce, now
        member.resumable = (found.resume_cid, cid) if resumed else (cid,)
        member.resumed = resumed
        return member, cid

    def _draw_cid(self) -> int:
        while True:
            if cid := self._members.cid(self._chance.randrange(1 << 48)):
                return cid


def refusal_of(nonce: bytes, code: Refusal, highest: int, gateways: tuple[Address, ...]) -> Refuse:
    """``highest``: the highest epoch known, told where it matters."""
    retry_after_s = 1 if code in (Refusal.FULL, Refusal.BUSY) else 0
    return Refuse(nonce, code, retry_after_s, highest if code is Refusal.EPOCH else 0, gateways)
