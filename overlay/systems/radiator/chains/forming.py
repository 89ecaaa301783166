"""Forms the first pushes of a propagation: chains with their blobs, and the header and MAC of every push."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.systems.radiator.chains.blobs import Place, chain_blob
from overlay.systems.radiator.chains.chain import Chain, Member
from overlay.systems.radiator.chains.cutting import Chainability, chain_length, cut
from overlay.systems.radiator.chains.propagation import Propagation
from overlay.systems.radiator.chains.transfers import Parcel
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.config import MAX_SEGMENTS, Transport
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.compression import deflate
from overlay.systems.radiator.wire.proofs import mac_of


class Former:
    """``chance`` permutes the recipients; ``server`` is the address that hops report to."""

    def __init__(
        self,
        config: Transport,
        server: Address,
        epoch: int,
        key: bytes,
        chance: Chance,
        chainability: Chainability[Entry] | None,
    ) -> None:
        self._config, self._server, self._epoch, self._key = config, server, epoch, key
        self._chance, self._chainability = chance, chainability

    def form(self, propagation: Propagation, recipients: Sequence[Entry], p2p_clients: int) -> list[Member]:
        """Add its chains to a propagation. Returns the recipients of direct pushes."""
        groups, direct = self._groups(recipients, p2p_clients)
        for group in groups:
            direct += self._form_chain(propagation, group)
        return [Member.of(entry) for entry in direct]

    def direct_push(self, propagation: Propagation) -> Parcel:
        """One for all recipients of direct pushes."""
        if propagation.direct is None:
            blob = deflate(propagation.body, self._config.codec_number)
            header = self._header(propagation, m.DIRECT, 0, blob)
            propagation.direct = Parcel(header, blob, self._config.segment_bytes)
        return propagation.direct

    def _groups(self, recipients: Sequence[Entry], p2p_clients: int) -> tuple[list[list[Entry]], list[Entry]]:
        """The members of chains, and who gets a direct push."""
        p2p = [entry for entry in recipients if entry.is_p2p]
        if not self._config.chain_percent or not p2p:
            return [], list(recipients)
        base = p2p_clients if self._config.chain_base == "clients" else len(p2p)
        length = chain_length(self._config.chain_percent, base)
        direct = [entry for entry in recipients if not entry.is_p2p]
        groups: list[list[Entry]] = []
        for members in _by_transport(p2p):
            groups += cut(members, length, self._chance, self._chainability)
        return groups, direct

    def _form_chain(self, propagation: Propagation, group: Sequence[Entry]) -> list[Entry]:
        """A chain of a group, or two if its blob is too long. Returns those for whom no chain is short enough."""
        raw = chain_blob([Place(*entry.address, entry.key[1]) for entry in group], self._server, propagation.body)
        blob = deflate(raw, self._config.codec_number)
        if len(raw) <= self._config.max_blob_bytes and len(blob) <= MAX_SEGMENTS * self._config.segment_bytes:
            push = self._header(propagation, len(propagation.chains), len(group), blob)
            propagation.chains.append(Chain([Member.of(entry) for entry in group], push, blob, len(raw)))
            return []
        if len(group) == 1:
            return list(group)
        half = len(group) // 2
        return self._form_chain(propagation, group[:half]) + self._form_chain(propagation, group[half:])

    def _header(self, propagation: Propagation, chain: int, length: int, blob: bytes) -> m.Push:
        mac = mac_of(self._key, self._epoch, propagation.number, chain, blob)
        return m.Push(self._epoch, propagation.number, chain, 0, length, 0, self._config.codec_number, 0, 1, mac, b"")


def _by_transport(entries: Sequence[Entry]) -> Iterable[list[Entry]]:
    """Clients that can forward to each other: those with sockets of their own, and those of each gateway."""
    groups: dict[str, list[Entry]] = {}
    for entry in entries:
        groups.setdefault(entry.key[0] if entry.is_http else "", []).append(entry)
    return groups.values()
