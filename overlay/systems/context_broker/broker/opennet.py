"""The rules of an open network (wire-protocol section 5): who may send commands, and the limit for strangers.

UDP sources can be forged, so an open broker sends to an address outside its trusted networks at most three
times the bytes received from there in a sliding window of ten seconds (the factor of RFC 9000). All tables are bounded.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from functools import lru_cache
from ipaddress import ip_address

from overlay.core.addresses import Address, Network, block_of, parse_networks
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.config import BrokerConfig

AMPLIFICATION = 3
WINDOW = 10 * SECOND
BUCKET = 100 * MILLISECOND
MOST_STRANGERS = 4096
MOST_OF_BLOCK = 256
"""Maximum per /24 (IPv6: /64). A single host could otherwise fill the table with its 65,535 ports."""
NACKS_PER_SECOND = 10


class Networks:
    """Whether a host is in one of some networks, with a cache of a few thousand results.

    If no network is smaller, results for blocks of 256 addresses are cached, as each of 100,000 brokers is met rarely.
    """

    def __init__(self, networks: tuple[Network, ...]) -> None:
        self._networks = networks
        self._has_blocks = all(network.prefixlen <= 24 for network in networks if network.version == 4)
        self._contain_block = lru_cache(maxsize=4096)(self._look_up)
        self.contain = lru_cache(maxsize=4096)(self._contain)

    def _contain(self, host: str) -> bool:
        block, dot, _ = host.rpartition(".")
        return self._contain_block(f"{block}.0") if dot and self._has_blocks else self._look_up(host)

    def _look_up(self, host: str) -> bool:
        address = ip_address(host)
        return any(address in network for network in self._networks)


@lru_cache(maxsize=64)
def _networks(text: str) -> Networks:
    """Shared by all brokers of a process with the same setting."""
    return Networks(parse_networks(text, "networks"))


class Ledger:
    """Bytes to and from strangers, in buckets of 100 ms.

    A bucket at the edge of the window counts only what was sent, so the limit applies in every window, not only on
    average. When the table is full of active strangers, or of those of one block, new ones get nothing.
    """

    __slots__ = ("_blocks", "_buckets", "_most", "_most_of_block")

    def __init__(self, most_strangers: int = MOST_STRANGERS, most_of_block: int = MOST_OF_BLOCK) -> None:
        self._most = most_strangers
        self._most_of_block = most_of_block
        self._blocks: Counter[str] = Counter()
        """Number of strangers by block."""
        self._buckets: OrderedDict[Address, deque[list[int]]] = OrderedDict()
        """Address to buckets ``[start, received, sent]``; the least recently heard address first."""

    def receive(self, source: Address, size: int, now: int) -> None:
        self._forget_the_silent(now)
        if source not in self._buckets:
            block = block_of(source[0])
            if len(self._buckets) >= self._most or self._blocks[block] >= self._most_of_block:
                return
            self._blocks[block] += 1
            self._buckets[source] = deque()
        self._buckets.move_to_end(source)
        self._bucket(source, now)[1] += size

    def may_send(self, to: Address, size: int, now: int) -> bool:
        """Whether ``size`` more bytes fit into the budget; if so they are counted."""
        if to not in self._buckets:
            return False
        bucket = self._bucket(to, now)
        received = sum(b[1] for b in self._buckets[to] if b[0] > now - WINDOW)
        sent = sum(b[2] for b in self._buckets[to])
        if sent + size > AMPLIFICATION * received:
            return False
        bucket[2] += size
        return True

    def _bucket(self, address: Address, now: int) -> list[int]:
        """The current bucket; removes those outside the window."""
        buckets = self._buckets[address]
        while buckets and buckets[0][0] + BUCKET <= now - WINDOW:
            buckets.popleft()
        if not buckets or buckets[-1][0] + BUCKET <= now:
            buckets.append([now - now % BUCKET, 0, 0])
        return buckets[-1]

    def _forget_the_silent(self, now: int) -> None:
        while self._buckets:
            address, buckets = next(iter(self._buckets.items()))
            if buckets[-1][0] + BUCKET > now - WINDOW:
                return
            del self._buckets[address]
            block = block_of(address[0])
            self._blocks[block] -= 1
            if not self._blocks[block]:
                del self._blocks[block]

    def check_invariants(self) -> None:
        assert len(self._buckets) <= self._most
        assert self._blocks == Counter(block_of(host) for host, _ in self._buckets)
        assert all(strangers <= self._most_of_block for strangers in self._blocks.values())
        assert all(1 <= len(buckets) <= WINDOW // BUCKET + 2 for buckets in self._buckets.values())


class RateLimit:
    """At most ``most`` per second to one address. When the table is full of active addresses, new ones get none."""

    __slots__ = ("_most", "_most_addresses", "_times")

    def __init__(self, most: int = NACKS_PER_SECOND, most_addresses: int = MOST_STRANGERS) -> None:
        self._most = most
        self._most_addresses = most_addresses
        self._times: OrderedDict[Address, deque[int]] = OrderedDict()

    def permits(self, address: Address, now: int) -> bool:
        while self._times and next(iter(self._times.values()))[-1] <= now - SECOND:
            self._times.popitem(last=False)
        times = self._times.get(address)
        if times is None:
            if len(self._times) >= self._most_addresses:
                return False
            times = self._times[address] = deque(maxlen=self._most)
        if len(times) == self._most and times[0] > now - SECOND:
            return False
        times.append(now)
        self._times.move_to_end(address)
        return True

    def check_invariants(self) -> None:
        assert len(self._times) <= self._most_addresses
        assert all(self._times.values())


class OpenNetwork:
    """The rules of section 5 for one broker."""

    __slots__ = ("_controllers", "_ledger", "_refusals", "trusted_hosts")

    def __init__(self, config: BrokerConfig) -> None:
        self._controllers = _networks(config.controller_networks)
        self.trusted_hosts = _networks(config.trusted_networks).contain
        """Whether a host is in a trusted network."""
        self._ledger: Ledger | None = None
        self._refusals: RateLimit | None = None

    @property
    def ledger(self) -> Ledger:
        """Created with the first stranger, which few brokers ever meet."""
        if self._ledger is None:
            self._ledger = Ledger()
        return self._ledger

    @property
    def refusals(self) -> RateLimit:
        """Created with the first refusal."""
        if self._refusals is None:
            self._refusals = RateLimit()
        return self._refusals

    def trusts(self, address: Address) -> bool:
        return self.trusted_hosts(address[0])

    def obeys(self, address: Address) -> bool:
        """Whether the address may send commands."""
        return self._controllers.contain(address[0])

    def check_invariants(self) -> None:
        for part in (self._ledger, self._refusals):
            if part is not None:
                part.check_invariants()
