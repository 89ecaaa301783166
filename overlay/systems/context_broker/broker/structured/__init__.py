"""V2, the structured rival: brokers that agree on who keeps what, in a distributed hash table (Kademlia).

Brokers and keys have identifiers of 160 bits; an entry lies on the ``dht_replicas`` brokers whose identifiers are
closest to its key's by exclusive or (Maymounkov and Mazieres: Kademlia, IPTPS 2002). Clients see none of it: they say 2
and 3 to any broker and get the answers of the wire protocol. Between brokers::

    provider ── 2 ─> any broker ── 26 ... ─> who is closest?    ── 30 ─> each of those ── 31 ─> back ── 102 ─> provider
    consumer ── 3 ─> any broker ── 28 ... ─> 29, or who is closer? ────> the newest of the answers ── 4, 102 ─> consumer

::

    identifiers  of brokers and keys, and the distance between two
    contacts     the other brokers known, in buckets by distance
    questions    what was asked of whom: asked again, answered, or given up
    lookup       one iterative lookup, as a value; ``lookups`` runs many
    getting      requests (3, 32);  ``putting``  updates (2)
    upkeep       meets, checks and buries contacts;  ``handover``  moves entries when who is closest changes
    missed       what is to be handed over again
    arm          all of it as one part of a broker
"""

from __future__ import annotations

from overlay.systems.context_broker.broker.structured.arm import HANDLERS, Structured

__all__ = ["HANDLERS", "Structured"]
