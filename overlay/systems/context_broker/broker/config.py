"""What can be set on a broker. One frozen, flat class; flags, forms, the API and the documentation are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from overlay.core.addresses import parse_networks
from overlay.core.errors import InvalidSetting
from overlay.core.settings import check, setting
from overlay.systems.context_broker.broker.membership import GIVEN, MEMBERSHIPS
from overlay.systems.context_broker.broker.replication import REPLICATIONS
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.walks import POLICIES

LOOPBACK = "127.0.0.0/8,::1/128"

DEFAULT_TTL = 64
"""Hops, where nobody knows the number of brokers."""

MOST_HOPS = 4000
"""So many, named in a request, still fit into a datagram."""


class _Summed(Protocol):
    @property
    def summary(self) -> str: ...


def _summaries(named: Mapping[str, _Summed]) -> str:
    """``one: what it does; other: what it does.``"""
    return "; ".join(f"{name}: {one.summary}" for name, one in named.items()) + "."


@dataclass(frozen=True)
class BrokerConfig:
    """Settings of one broker; times in milliseconds."""

    arm: str = setting(
        "unstructured",
        choices=("unstructured", "structured"),
        help="Where data lie: on the broker that the provider tells, and are searched for (unstructured), or on the "
        "brokers that a distributed hash table makes responsible (structured), which finds all in few hops and sends "
        "every update across the network.",
    )
    search: str = setting(
        "walk",
        choices=tuple(STRATEGIES),
        help=f"How data are looked for; floods answer sooner and cost more messages. {_summaries(STRATEGIES)}",
    )
    walk_policy: str = setting(
        "backtrack",
        choices=tuple(POLICIES),
        help="Which neighbour a walk goes to next. Under avoid and noback it ends at a broker with one neighbour, and "
        f"misses what lies beyond. {_summaries(POLICIES)}",
    )
    walk_ttl: int = setting(
        0,
        unit="hops",
        low=0,
        high=MOST_HOPS,
        help="A request that holds so many hops goes no further. 0 means 4 x the number of brokers (at most 4000) "
        "where the launcher knows it, else 64. More finds rarer data and costs more messages when there is none.",
    )
    walkers: int = setting(
        4,
        unit="walks",
        low=1,
        high=64,
        help="Of k-walkers: how many start at once, at most one for each neighbour of the consumer's broker. More "
        "answer sooner and cost more messages.",
    )
    flood_ttl: int = setting(
        7,
        unit="hops",
        low=1,
        high=64,
        help="How far a flood or the widest ring goes. Farther finds more and costs more messages.",
    )
    flood_degree: int = setting(
        2,
        unit="brokers",
        low=1,
        high=1000,
        help="Of normalized-flood: to how many neighbours each broker sends on; the smallest degree of the overlay.",
    )
    lookahead_ttl: int = setting(
        1,
        unit="hops",
        low=1,
        high=2,
        help="Of lookahead: how far the flood around each step goes. 2 shortens walks and costs many more messages.",
    )
    lookahead_wait_ms: int = setting(
        20,
        unit="ms",
        low=1,
        high=60_000,
        help="How long a shallow flood is waited for, for each hop that it goes; about twice the delay of a link. "
        "Longer saves messages on slow links and takes longer where nobody near has the data. An expanding ring waits "
        "at least as long as its own broker's slowest link takes there and back.",
    )
    replication: str = setting(
        "random",
        choices=tuple(REPLICATIONS),
        help="Which brokers on the way of an answer keep a replica: some at random, all of the path, the requester's "
        "own, or none. More of them answer sooner, take more memory and may answer with what is out of date.",
    )
    replication_index: int = setting(
        1,
        unit="brokers",
        low=0,
        high=4000,
        help="Of random replication: how many brokers on the way of an answer keep a replica. More answers sooner and "
        "takes more memory.",
    )
    replication_threshold_ms: int = setting(
        60_000,
        unit="ms",
        low=0,
        high=10**15,
        help="Data with a shorter validity period is not replicated, as its replicas would expire unused.",
    )
    replica_refresh: bool = setting(
        False,
        help="Whether a broker tells a newer value to those that it had keep a replica. Answers are fresher, and each "
        "update costs as many messages as there are replicas.",
    )
    replica_lease_ms: int = setting(
        10_000,
        unit="ms",
        low=100,
        high=3_600_000,
        help="Of replica refresh: how long a replica is served after its original last refreshed or confirmed it. No "
        "answer is older than two leases, whichever broker dies. Shorter bounds age more tightly and costs four "
        "messages per replica and lease while nothing is updated. Longer keeps data whose provider's broker died.",
    )
    hop_ack: bool = setting(
        False,
        help="Whether what brokers say to each other about queries is acknowledged and sent again until it is. "
        "Lossy links then cost milliseconds instead of a client's time-out, and each message a second, short one.",
    )
    hop_tries: int = setting(
        5,
        unit="tries",
        low=1,
        high=20,
        help="With acknowledgements: how often a message is sent before its neighbour is given up for this query. "
        "More bridges worse links and waits longer for the dead.",
    )
    pending_deadline_ms: int = setting(
        10_000,
        unit="ms",
        low=1,
        high=3_600_000,
        help="How long a forwarded request is remembered. Longer serves slower links and takes more memory.",
    )
    pending_capacity: int = setting(
        10_000,
        unit="requests",
        low=1,
        high=1_000_000,
        help="How many forwarded requests are remembered; when there are so many, a walk ends here as not found.",
    )
    dht_replicas: int = setting(
        3,
        unit="brokers",
        low=1,
        high=16,
        help="Of the structured arm: on how many brokers an entry lies. More survive crashes and cost updates.",
    )
    dht_parallel: int = setting(
        3,
        unit="questions",
        low=1,
        high=16,
        help="Of the structured arm: how many brokers a lookup asks at a time. More are faster on slow links and cost "
        "messages.",
    )
    dht_bucket: int = setting(
        16,
        unit="brokers",
        low=2,
        high=64,
        help="Of the structured arm: how many brokers are known at each distance, and named in an answer; at least as "
        "many as keep an entry. More shorten lookups and cost checks.",
    )
    dht_timeout_ms: int = setting(
        250,
        unit="ms",
        low=1,
        high=60_000,
        help="Of the structured arm: how long another broker's answer is waited for before it is asked again, once. "
        "Shorter passes over the dead sooner, and over the slow.",
    )
    dht_deadline_ms: int = setting(
        5_000,
        unit="ms",
        low=1,
        high=600_000,
        help="Of the structured arm: how long a lookup may take before its client is refused; clients wait 10 s.",
    )
    dht_refresh_ms: int = setting(
        5_000,
        unit="ms",
        low=10,
        high=3_600_000,
        help="Of the structured arm: a broker not heard of for so long is made sure of. Shorter repairs crashes sooner "
        "and costs datagrams.",
    )
    table: str = setting(
        "indexed",
        choices=("indexed", "linear"),
        help="The data table: indexed by entity and scope, or the prototype's linear scan, whose cost grows with it.",
    )
    table_entries: int = setting(
        100_000, unit="entries", low=1, high=10_000_000, help="The most entries the table holds; beyond, NACK 201."
    )
    table_bytes: int = setting(
        128 * 2**20,
        unit="bytes",
        low=1,
        high=2**40,
        help="The most bytes of stored answers (payload, names, validity) the table holds; beyond, NACK 201.",
    )
    neighbour_capacity: int = setting(
        1300,
        unit="brokers",
        low=1,
        high=1300,  # as many addresses as a NeighborsResponse holds
        help="The most neighbours, and the most names in one join; what is more is refused.",
    )
    provider_share: int = setting(
        90,
        unit="percent",
        low=1,
        high=100,
        help="The most of the table's entries and bytes that one provider's data take; beyond, NACK 201. Less leaves "
        "more room for others, and less for one provider that has much to say.",
    )
    source_share: int = setting(
        90,
        unit="percent",
        low=1,
        high=100,
        help="The most of the table, of the pending requests (beyond, NACK 201 and 202) that one trusted address, host "
        "and port, takes; of the neighbours, what all uninvited joins take, and of that what one host's take. Less "
        "leaves more room for others and for joins ordered here, and less for one busy client or neighbour.",
    )
    stranger_share: int = setting(
        10,
        unit="percent",
        low=1,
        high=100,
        help="The same for those outside the trusted networks that share a /24 (in IPv6 a /64). More serves busy "
        "strangers, and leaves less room when one of them is hostile.",
    )
    strangers_share: int = setting(
        50,
        unit="percent",
        low=1,
        high=100,
        help="The same for all strangers together, since addresses can be forged. More serves more of them, and leaves "
        "less for those who are trusted.",
    )
    membership: str = setting(
        GIVEN,
        choices=tuple(MEMBERSHIPS),
        help="Who a broker's neighbours are: those that it is ordered to join (given), or the nearest (greedy) or any "
        "(random) of those, which then are candidates only. Nearest make hops short; near clusters may fall apart.",
    )
    neighbours_wanted: int = setting(
        4,
        unit="brokers",
        low=1,
        high=1000,
        help="Of greedy and random membership: how many neighbours a broker looks for; others may join it beyond "
        "that. More make searches short and cost pings.",
    )
    neighbours_least: int = setting(
        2,
        unit="brokers",
        low=1,
        high=1000,
        help="Of greedy and random membership: with fewer neighbours a broker goes on searching. More keep the overlay "
        "connected when brokers die.",
    )
    ping_interval_ms: int = setting(
        1_000,
        unit="ms",
        low=10,
        high=3_600_000,
        help="How often monitoring pings a neighbour. Shorter finds the dead sooner and costs more datagrams.",
    )
    ping_misses: int = setting(
        3,
        unit="pings",
        low=1,
        high=100,
        help="A neighbour that misses so many pings in a row is dropped. Fewer finds the dead sooner, and drops the "
        "living on lossy links.",
    )
    indirect_probes: int = setting(
        0,
        unit="brokers",
        low=0,
        high=16,
        help="How many others are asked to ping a neighbour that missed its pings, before it is dropped; 0 drops it at "
        "once. More keep the living on lossy links, and cost datagrams while one is suspected.",
    )
    suspicion_rounds: int = setting(
        3,
        unit="rounds",
        low=1,
        high=100,
        help="Of indirect probes: for how many intervals without any answer a neighbour is suspected before it is "
        "dropped. Fewer find the dead sooner and drop more of the living.",
    )
    gone_ttl: int = setting(
        0,
        unit="hops",
        low=0,
        high=8,
        help="How far the notice of a leave or crash goes; 0 tells nobody. Farther spares others their own misses and "
        "costs a message per link.",
    )
    join_timeout_ms: int = setting(
        1_000,
        unit="ms",
        low=10,
        high=600_000,
        help="How long a broker waits for those it joins; it asks them again twice within that time.",
    )
    clock_window_ms: int = setting(
        30_000,
        unit="ms",
        low=0,
        high=10**12,
        help="An update stamped further in the future is refused, since it would win over every honest one until then; "
        "so is a notice that a broker is gone, further in the future or the past.",
    )
    trace_one_in: int = setting(
        100,
        unit="queries",
        low=0,
        high=1_000_000,
        help="What brokers did is kept for one query in so many, the same ones at every broker, and for those that "
        "fail. 0 keeps nothing. 1 keeps every query, up to 200 steps a second, and takes more of each answer's time.",
    )
    trace_steps: int = setting(
        2_000,
        unit="steps",
        low=16,
        high=1_000_000,
        help="How many steps a broker remembers of queries that are kept only if they fail; 20 bytes each. More "
        "remembers the beginning of slow failures on busy brokers.",
    )
    controller_networks: str = setting(
        LOOPBACK, help="Comma-separated networks that may order this broker to join, leave or monitor."
    )
    trusted_networks: str = setting(
        LOOPBACK,
        help="Comma-separated networks of brokers and consumers. Others get at most three times the bytes they send, "
        "smaller shares, and under a backlog come after these.",
    )

    def __post_init__(self) -> None:
        check(self)
        if self.membership != GIVEN and self.neighbours_wanted > self.neighbour_capacity:
            raise InvalidSetting("neighbours_wanted", f"is more than neighbour_capacity, {self.neighbour_capacity}")
        if self.membership != GIVEN and self.neighbours_least > self.neighbours_wanted:
            raise InvalidSetting("neighbours_least", f"is more than neighbours_wanted, {self.neighbours_wanted}")
        if self.dht_bucket < self.dht_replicas:
            raise InvalidSetting("dht_bucket", f"must be at least dht_replicas, {self.dht_replicas}")
        parse_networks(self.controller_networks, "controller_networks")
        parse_networks(self.trusted_networks, "trusted_networks")

    def among(self, brokers: int) -> BrokerConfig:
        """As a launcher of so many brokers has it, who knows what a walk's length of 0 means."""
        return replace(self, walk_ttl=self.walk_ttl or min(4 * brokers, MOST_HOPS))

    @property
    def ttl(self) -> int:
        """Hops at which a walk ends, with the default resolved."""
        return self.walk_ttl or DEFAULT_TTL
