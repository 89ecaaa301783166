"""How propagations are cut: direct pushes and chains partition the recipients, and chains have the right members."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

from overlay.systems.radiator.chains.chain import Member
from overlay.systems.radiator.chains.propagation import Propagation
from overlay.systems.radiator.clients.table import Entry
from overlay.systems.radiator.language.chainability import Chainability
from overlay.systems.radiator.server.service import Service
from overlay.systems.radiator.settings import Settings
from tests.radiator.swarm import bodies
from tests.radiator.swarm.ledger import Ledger
from tests.radiator.swarm.shadow import c_r


class Cutting:
    """Watches a server form propagations, and enters them into the ledger."""

    def __init__(self, server: Service, settings: Settings, ledger: Ledger) -> None:
        self._server, self._settings, self._ledger = server, settings, ledger
        former = server.propagations._former
        self._form = former.form
        former.form = self.form  # type: ignore[method-assign]

    def form(self, propagation: Propagation, recipients: Sequence[Entry], p2p_clients: int) -> list[Member]:
        direct = self._form(propagation, recipients, p2p_clients)
        keys = [entry.key for entry in recipients]
        first, contexts = recipients[0], [self._ledger.contexts[number] for number in propagation.messages]
        bodies.check(self._settings.aggregation_text, contexts, c_r(first), first.key[1], propagation.body)
        self._ledger.begins(propagation.number, propagation.messages, propagation.body, keys)
        chained = [member.key for chain in propagation.chains for member in chain.members]
        cut = [*chained, *(member.key for member in direct)]
        assert sorted(cut) == sorted(keys), "direct pushes and chains do not partition the recipients"
        by_key = {entry.key: entry for entry in recipients}
        assert all(self._server.clients.get(key) is by_key[key] for key in keys)
        assert all(entry.is_reachable for entry in recipients), "an unreachable client is a recipient"
        assert all(by_key[key].is_p2p for key in chained), "a client that accepts no pushes of others is in a chain"
        p2p = [entry for entry in recipients if entry.is_p2p]
        if not self._settings.chain_percent:
            assert not chained
        elif p2p:
            self._check_lengths(propagation, p2p, chained, by_key)
        return direct

    def _check_lengths(
        self, propagation: Propagation, p2p: Sequence[Entry], chained: Sequence[Any], by_key: dict[Any, Entry]
    ) -> None:
        everyone = [one for one in self._server.clients if one.is_reachable and one.is_p2p]
        base = len(p2p) if self._settings.chain_base == "recipients" else len(everyone)
        length = max(1, int(self._settings.chain_percent * base / 100 + 0.5))
        lengths = [len(chain.members) for chain in propagation.chains]
        assert max(lengths, default=0) <= length, f"a chain of {max(lengths)}, not of {length}"
        if self._settings.chainability == "none":
            is_halved = len(chained) < len(p2p) or len(lengths) > ceil(len(p2p) / length)
            most = self._settings.max_blob_bytes
            room = len(propagation.body) + 60 * length + 100
            assert not is_halved or room > most, f"{len(lengths)} chains for {len(p2p)} clients, {length} each"
        else:
            value = Chainability(self._settings.chainability).value
            for chain in propagation.chains:
                members = [by_key[member.key] for member in chain.members]
                for a, b in pairwise(members):
                    chainable = value(c_r(a), a.key[1], c_r(b), b.key[1])
                    assert chainable is not None and chainable > 0, "a chain joins two that must not follow each other"
