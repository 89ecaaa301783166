"""The settings of a broker: one flat frozen class, from which flags, forms, the API and documentation are generated."""

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
"""Hops, if the number of brokers is unknown."""

MOST_HOPS = 4000
"""The most hops that fit into the datagram of a request."""


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
        help="Where data is stored: on the provider's broker, where others search for it (unstructured), or on the "
        "brokers that a distributed hash table assigns (structured). The hash table finds all data in few hops and "
        "sends every update across the network.",
    )
    search: str = setting(
        "walk",
        choices=tuple(STRATEGIES),
        help=f"The search strategy. Floods answer sooner and cost more messages. {_summaries(STRATEGIES)}",
    )
    walk_policy: str = setting(
        "backtrack",
        choices=tuple(POLICIES),
        help="Which neighbour a walk visits next. With avoid and noback a walk ends at a broker with one neighbour, "
        f"and may miss data elsewhere. {_summaries(POLICIES)}",
    )
    walk_ttl: int = setting(
        0,
        unit="hops",
        low=0,
        high=MOST_HOPS,
        help="Maximum hops of a request. 0 means 4 x the number of brokers (at most 4000) if the launcher knows it, "
        "otherwise 64. More hops find rarer data and cost more messages when there is none.",
    )
    walkers: int = setting(
        4,
        unit="walks",
        low=1,
        high=64,
        help="For k-walkers: walks per query, at most one for each neighbour of the consumer's broker. More walks "
        "answer sooner and cost more messages.",
    )
    flood_ttl: int = setting(
        7,
        unit="hops",
        low=1,
        high=64,
        help="Maximum hops of a flood or of the widest ring. More hops find more data and cost more messages.",
    )
    flood_degree: int = setting(
        2,
        unit="brokers",
        low=1,
        high=1000,
        help="For normalized-flood: the number of neighbours to which each broker forwards, usually the smallest "
        "degree of the overlay.",
    )
    lookahead_ttl: int = setting(
        1,
        unit="hops",
        low=1,
        high=2,
        help="For lookahead: hops of the flood around each step. 2 shortens walks and costs many more messages.",
    )
    lookahead_wait_ms: int = setting(
        20,
        unit="ms",
        low=1,
        high=60_000,
        help="How long to wait for a shallow flood, per hop; about twice the delay of a link. A longer wait saves "
        "messages on slow links and delays queries whose data is not nearby. An expanding ring waits for at least "
        "the slowest round trip of its own broker.",
    )
    replication: str = setting(
        "random",
        choices=tuple(REPLICATIONS),
        help="Which brokers on the path of an answer keep a replica: some at random, all, only the requester's own, "
        "or none. More replicas answer sooner, take more memory and may be out of date.",
    )
    replication_index: int = setting(
        1,
        unit="brokers",
        low=0,
        high=4000,
        help="For random replication: how many brokers on the path of an answer keep a replica. More replicas answer "
        "sooner and take more memory.",
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
        help="Whether a broker sends newer values to the replicas that it created. Answers are fresher, and each "
        "update costs one message per replica.",
    )
    replica_lease_ms: int = setting(
        10_000,
        unit="ms",
        low=100,
        high=3_600_000,
        help="For replica refresh: how long a replica is used after the original last refreshed or confirmed it. No "
        "answer is older than two leases, whichever broker dies. A shorter lease limits the age more tightly and "
        "costs four messages per replica and lease while nothing is updated. A longer lease keeps data whose "
        "provider's broker died.",
    )
    hop_ack: bool = setting(
        False,
        help="Whether brokers acknowledge messages of queries to each other and retransmit until acknowledged. A "
        "lost datagram then costs milliseconds instead of a client's time-out; each message costs a second, short "
        "one.",
    )
    hop_tries: int = setting(
        5,
        unit="tries",
        low=1,
        high=20,
        help="With acknowledgements: how many times a message is sent before its neighbour is given up for this "
        "query. More tries bridge worse links and wait longer for dead neighbours.",
    )
    pending_deadline_ms: int = setting(
        10_000,
        unit="ms",
        low=1,
        high=3_600_000,
        help="How long a forwarded request stays pending. A longer deadline allows slower links and takes more memory.",
    )
    pending_capacity: int = setting(
        10_000,
        unit="requests",
        low=1,
        high=1_000_000,
        help="Maximum number of pending forwarded requests. When it is reached, further walks end here as not found.",
    )
    dht_replicas: int = setting(
        3,
        unit="brokers",
        low=1,
        high=16,
        help="Structured arm: brokers that store each entry. More copies survive more crashes and cost more messages "
        "per update.",
    )
    dht_parallel: int = setting(
        3,
        unit="questions",
        low=1,
        high=16,
        help="Structured arm: brokers that a lookup asks at a time. More are faster on slow links and cost more "
        "messages.",
    )
    dht_bucket: int = setting(
        16,
        unit="brokers",
        low=2,
        high=64,
        help="Structured arm: size of a bucket, and brokers named in an answer; at least dht_replicas. Larger "
        "buckets shorten lookups and cost more checks.",
    )
    dht_timeout_ms: int = setting(
        250,
        unit="ms",
        low=1,
        high=60_000,
        help="Structured arm: how long to wait for another broker's answer before asking it again, once. A shorter "
        "time-out skips dead brokers sooner, but also slow ones.",
    )
    dht_deadline_ms: int = setting(
        5_000,
        unit="ms",
        low=1,
        high=600_000,
        help="Structured arm: how long a lookup may take before its client is refused; clients wait 10 s.",
    )
    dht_refresh_ms: int = setting(
        5_000,
        unit="ms",
        low=10,
        high=3_600_000,
        help="Structured arm: a contact that was silent for this long is pinged. A shorter interval repairs crashes "
        "sooner and costs datagrams.",
    )
    table: str = setting(
        "indexed",
        choices=("indexed", "linear"),
        help="The data table: indexed by entity and scope, or the prototype's linear scan, whose cost grows with the "
        "table.",
    )
    table_entries: int = setting(
        100_000, unit="entries", low=1, high=10_000_000, help="Maximum entries of the table; beyond, NACK 201."
    )
    table_bytes: int = setting(
        128 * 2**20,
        unit="bytes",
        low=1,
        high=2**40,
        help="Maximum bytes of stored answers (payload, names, validity) in the table; beyond, NACK 201.",
    )
    withdrawal_ms: int = setting(
        3_600_000,
        unit="ms",
        low=0,
        high=10**12,
        help="How long a withdrawal of data that the broker does not have is kept if its sender does not know their "
        "ValidEnd; older data that arrive meanwhile are refused. A longer time is safe against brokers that were cut "
        "off for longer, and takes an entry of the table.",
    )
    feed_readers: int = setting(
        64,
        unit="requests",
        low=0,
        high=10_000,
        help="Maximum number of requests for changes of the table that wait for one; further ones are answered at "
        "once, so their readers poll. More readers learn of changes at once, and each change costs an answer to each.",
    )
    neighbour_capacity: int = setting(
        1300,
        unit="brokers",
        low=1,
        high=1300,  # as many addresses as a NeighborsResponse holds
        help="Maximum number of neighbours, and of addresses in one join; beyond, refused.",
    )
    provider_share: int = setting(
        90,
        unit="percent",
        low=1,
        high=100,
        help="Maximum share of the table's entries and bytes for one provider; beyond, NACK 201. A lower share leaves "
        "more room for others, and less for one provider with much data.",
    )
    source_share: int = setting(
        90,
        unit="percent",
        low=1,
        high=100,
        help="Maximum share of the table (beyond, NACK 201) and of the pending requests (beyond, NACK 202) for one "
        "trusted address, host and port; also of the neighbours for all uninvited joins, and of those for one host. "
        "A lower share leaves more room for others and for ordered joins, and less for one busy client or neighbour.",
    )
    stranger_share: int = setting(
        10,
        unit="percent",
        low=1,
        high=100,
        help="The same for addresses outside the trusted networks that share a /24 (IPv6: a /64). A higher share "
        "serves busy strangers, and leaves less room if one of them is hostile.",
    )
    strangers_share: int = setting(
        50,
        unit="percent",
        low=1,
        high=100,
        help="The same for all strangers together, since addresses can be forged. A higher share serves more of them, "
        "and leaves less for trusted senders.",
    )
    membership: str = setting(
        GIVEN,
        choices=tuple(MEMBERSHIPS),
        help="How a broker chooses its neighbours: all brokers that it is ordered to join (given), or the nearest "
        "(greedy) or random ones of these candidates (random). Nearest neighbours make hops short, but the overlay "
        "may split into clusters.",
    )
    neighbours_wanted: int = setting(
        4,
        unit="brokers",
        low=1,
        high=1000,
        help="For greedy and random membership: how many neighbours a broker looks for; others may join it beyond "
        "that. More neighbours shorten searches and cost pings.",
    )
    neighbours_least: int = setting(
        2,
        unit="brokers",
        low=1,
        high=1000,
        help="For greedy and random membership: with fewer neighbours a broker continues to search. A higher number "
        "keeps the overlay connected when brokers die.",
    )
    ping_interval_ms: int = setting(
        1_000,
        unit="ms",
        low=10,
        high=3_600_000,
        help="Interval between pings to a neighbour. A shorter interval detects deaths sooner and costs more "
        "datagrams.",
    )
    ping_misses: int = setting(
        3,
        unit="pings",
        low=1,
        high=100,
        help="A neighbour that misses this many pings in a row is dropped. A lower number detects deaths sooner, and "
        "drops more live neighbours on lossy links.",
    )
    indirect_probes: int = setting(
        0,
        unit="brokers",
        low=0,
        high=16,
        help="How many other neighbours are asked to ping one that missed its pings, before it is dropped; 0 drops "
        "it at once. More probes keep live neighbours on lossy links, and cost datagrams during a suspicion.",
    )
    suspicion_rounds: int = setting(
        3,
        unit="rounds",
        low=1,
        high=100,
        help="With indirect probes: for how many intervals without any answer a neighbour is suspected before it is "
        "dropped. Fewer rounds detect deaths sooner and drop more live neighbours.",
    )
    gone_ttl: int = setting(
        0,
        unit="hops",
        low=0,
        high=8,
        help="How far the notice of a leave or crash is flooded; 0 sends none. A wider flood spares other brokers "
        "their own time-outs and costs a message per link.",
    )
    join_timeout_ms: int = setting(
        1_000,
        unit="ms",
        low=10,
        high=600_000,
        help="How long a broker waits for the brokers that it joins; it asks them again twice within that time.",
    )
    clock_window_ms: int = setting(
        30_000,
        unit="ms",
        low=0,
        high=10**12,
        help="Updates with a timestamp further in the future are refused, since they would win over every honest one "
        "until then. Notices of dead brokers are refused if they are further in the future or in the past.",
    )
    trace_one_in: int = setting(
        100,
        unit="queries",
        low=0,
        high=1_000_000,
        help="Brokers trace one query in this many, the same ones at every broker, and every query that fails. 0 "
        "traces nothing. 1 traces every query, up to 200 steps a second, and makes each answer slower.",
    )
    trace_steps: int = setting(
        2_000,
        unit="steps",
        low=16,
        high=1_000_000,
        help="How many steps a broker buffers of queries that are traced only if they fail; 20 bytes each. A larger "
        "buffer keeps the beginning of slow failures on busy brokers.",
    )
    controller_networks: str = setting(
        LOOPBACK, help="Comma-separated networks that may order this broker to join, leave or monitor."
    )
    trusted_networks: str = setting(
        LOOPBACK,
        help="Comma-separated networks of brokers and consumers. Other senders get at most three times the bytes they "
        "send, get smaller shares, and are served last if there is a backlog.",
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
        """This configuration with a ``walk_ttl`` of 0 resolved for a network of so many brokers."""
        return replace(self, walk_ttl=self.walk_ttl or min(4 * brokers, MOST_HOPS))

    @property
    def ttl(self) -> int:
        """Hops at which a walk ends, with the default resolved."""
        return self.walk_ttl or DEFAULT_TTL
