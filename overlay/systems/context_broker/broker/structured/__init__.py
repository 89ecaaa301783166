"""The structured network (v2, for comparison): brokers store data in a distributed hash table (Kademlia).

Brokers and keys have identifiers of 160 bits. An entry is stored on its *keepers*: the ``dht_replicas`` brokers whose
identifiers are closest to that of its key by exclusive or (Maymounkov and Mazieres: Kademlia, IPTPS 2002). Clients use
the same protocol as in an unstructured network: they send codes 2 and 3 to any broker. Between brokers::

    provider ── 2 ─> any broker ── 26 ... ─> who is closest?    ── 30 ─> each of those ── 31 ─> back ── 102 ─> provider
    consumer ── 3 ─> any broker ── 28 ... ─> 29, or who is closer? ────> the newest of the answers ── 4, 102 ─> consumer

::

    identifiers  identifiers of brokers and keys, and distances
    contacts     the known brokers, in buckets by distance
    questions    requests to other brokers: retries, answers and timeouts
    lookup       the state of one iterative lookup; ``lookups`` runs many
    getting      requests of clients (3, 32);  ``putting``  updates (2)
    upkeep       finds, checks and removes contacts;  ``handover``  moves entries when their keepers change
    missed       handovers to retry
    arm          all of it as one component of a broker
"""

from __future__ import annotations

from overlay.systems.context_broker.broker.structured.arm import HANDLERS, Structured

__all__ = ["HANDLERS", "Structured"]
