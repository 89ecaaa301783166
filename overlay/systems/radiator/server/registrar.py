"""Registration (seed 003, 3.3): who has a place in the table of clients, and what becomes of whom it displaces."""

from __future__ import annotations

from collections.abc import Callable

from overlay.core.addresses import Address
from overlay.core.strangers import token_of
from overlay.systems.radiator.chains.propagation import Outcome
from overlay.systems.radiator.chains.propagations import Propagations
from overlay.systems.radiator.clients.table import Clients, Entry
from overlay.systems.radiator.server.aggregator import Aggregator
from overlay.systems.radiator.server.facts import Identity
from overlay.systems.radiator.wire import messages as m


class Registrar:
    """``drop`` accounts for what was pending for a client that has lost its place; ``enter`` hears of new entries."""

    def __init__(
        self,
        identity: Identity,
        clients: Clients,
        aggregator: Aggregator,
        propagations: Propagations,
        drop: Callable[[Entry, Outcome, int], None],
        enter: Callable[[Entry], None],
    ) -> None:
        self._identity, self._clients = identity, clients
        self._aggregator, self._propagations = aggregator, propagations
        self._drop, self._enter = drop, enter

    def register(self, request: m.Register, source: Address, now: int) -> m.Registered:
        """Only a request with the token that was sent to its address changes anything."""
        epoch = self._identity.epoch
        token = token_of(self._identity.secret, source, epoch)
        if request.token != token:
            return m.Registered(request.req, m.Registration.TOKEN, epoch, token=token)
        known = self._clients.of_instance(source[0], request.instance)
        was_reachable = known is not None and known.is_reachable
        admission = self._clients.register(
            source,
            request.id,
            request.instance,
            request.attributes,
            is_p2p=bool(request.flags & m.P2P),
            is_http=bool(request.flags & m.HTTP),
            req=request.req,
            now=now,
        )
        if admission.replaced is not None:
            self._drop(admission.replaced, Outcome.TAKEN_OVER, now)
        for gone in (admission.displaced, admission.forgotten):
            if gone is not None:
                self._drop(gone, Outcome.UNREACHABLE, now)
        if admission.entry is not None and known is None:
            self._enter(admission.entry)
        if admission.is_changed:
            self._propagations.withdraw(source, request.instance, now)
        if admission.entry is not None and (admission.is_changed or not was_reachable):
            self._aggregator.change(admission.entry, now)
        key = self._identity.key if admission.code is m.Registration.OK else b""
        return m.Registered(request.req, admission.code, epoch, key)

    def unregister(self, request: m.Unregister, source: Address, now: int) -> m.Unregistered:
        """Strangers get the same answer."""
        entry = self._clients.unregister(source[0], request.instance, request.id)
        if entry is not None:
            self._drop(entry, Outcome.UNREGISTERED, now)
        return m.Unregistered(request.req, m.Registration.OK)
