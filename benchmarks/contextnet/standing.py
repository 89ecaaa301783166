"""A gateway in this process with nodes connected to it, without sockets. Its log is durable at once.

Each exchange has three steps of the gateway: messages of nodes become records, answers of an application become
datagrams, and the nodes' acknowledgements settle these records::

    node ── DATA ──> gateway ── inbound ──> durable
    node <── DATA (and ACK) ── gateway <── gateway.0 ── the application
    node ── ACK ──> gateway: settled
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import TypeVar

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.node import MILLISECOND, SECOND
from overlay.log.node import Assignment
from overlay.log.topics import Append, Record
from overlay.runtime.datagrams import BATCH, Datagram
from overlay.systems.contextnet.gateway.config import GatewayConfig
from overlay.systems.contextnet.gateway.gateway import Gateway
from overlay.systems.contextnet.gateway.settings import GatewaySettings
from overlay.systems.contextnet.keys import node_secret
from overlay.systems.contextnet.names import answer_id, node_id
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.names import INBOUND
from overlay.systems.contextnet.records.records import Message, Outbound
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.node import NodeEnd
from overlay.systems.contextnet.transport.packets import Kind

One = TypeVar("One")
GATEWAY = "127.0.0.1", 4_000
TOPIC = "gateway.0"
WALL = 1_700_000_000 * SECOND
NETWORK = bytes(32)
PAYLOAD, CONTEXT = bytes(200), b"\x81\xa1x" + b"\xc4\x3c" + bytes(60)
"""As workloads have them."""
HANDSHAKE_NS = 3 * MILLISECOND
"""Between two nodes: a gateway accepts 500 in a second."""
ACK_NS = 30 * MILLISECOND
"""After which a node acknowledges what it sent no packet for."""


class Standing:
    def __init__(self, nodes: int) -> None:
        self.settings = GatewaySettings(pool_size=65_536, idle_s=3_600)
        self.now = 0
        self._numbers, self._position = count(1), 0
        config = GatewayConfig(
            self.settings, bytes(32), lambda node: Secret(node_secret(NETWORK, node)), None, ping_period_s=3_600
        )
        self.gateway = Gateway("gateway-0", GATEWAY, config, Chances.streams(1), WALL)
        topics = self.gateway.subscriptions()
        self.gateway.assigned([Assignment(one.topic, one.group, 0, 0) for one in topics], 0)
        self.nodes = [self._node(number) for number in range(nodes)]
        self._places = {address: end for end, address in zip(self.nodes, map(_address, range(nodes)), strict=True)}
        for number, end in enumerate(self.nodes):
            self._connect(end, _address(number))
        self._durable()

    def _node(self, number: int) -> NodeEnd:
        id = node_id(number)
        return NodeEnd(id, node_secret(NETWORK, id), 0, self.settings, Chances.streams(number).walks)

    def _connect(self, end: NodeEnd, address: Address) -> None:
        self.now += HANDSHAKE_NS
        end.connect((GATEWAY,), self.now)
        while sent := end.datagrams_to_send():
            self.gateway.receive_datagrams([(data, address) for data, _ in sent], self.now)
            end.receive_datagrams([(data, GATEWAY) for data, _ in self.gateway.datagrams_to_send()], self.now)
        end.events()
        assert end.is_open

    # ---- what nodes and applications do

    def sent(self, messages: int) -> list[Datagram]:
        """Messages of nodes in turn, as they arrive."""
        found: list[Datagram] = []
        for turn in range(messages):
            number = turn % len(self.nodes)
            end = self.nodes[number]
            name = node_id(number).hex()
            id = next(self._numbers).to_bytes(16, "big")
            message = Message(id, name, INBOUND, 0, payload=PAYLOAD, context=CONTEXT, reply_to=name)
            assert end.send(Kind.MESSAGE, codec.write(message), None, self.now)
            found += [(data, _address(number)) for data, _ in end.datagrams_to_send()]
        return found

    def answers(self, appended: Sequence[Append]) -> list[Record]:
        """What an application writes to the gateway's topic."""
        found = []
        for one in appended:
            if one.topic == INBOUND:
                heard = codec.read(INBOUND, one.value).message
                answer = Message(answer_id(heard.id), "application-0", heard.reply_to, 0, payload=PAYLOAD)
                found.append(Record(TOPIC, 0, self._position, one.key, codec.write(Outbound(answer)), 0))
                self._position += 1
        return found

    def acknowledged(self, datagrams: Sequence[Datagram]) -> list[Datagram]:
        """What nodes send when these have arrived."""
        for data, to in datagrams:
            self._places[to].receive_datagrams([(data, GATEWAY)], self.now)
        self.now += ACK_NS
        found: list[Datagram] = []
        for address in dict.fromkeys(to for _, to in datagrams):
            end = self._places[address]
            end.handle_timer(self.now)
            end.events()
            found += [(data, address) for data, _ in end.datagrams_to_send()]
        return found

    def forget_nodes(self) -> None:
        """Their ends; the gateway still has their connections."""
        self.nodes.clear()
        self._places.clear()

    # ---- what the gateway does

    def take_in(self, datagrams: Sequence[Datagram]) -> list[Append]:
        """Messages become durable records, in batches as a socket has them."""
        found: list[Append] = []
        for batch in batches(datagrams):
            self.gateway.receive_datagrams(batch, self.now)
            found += self._durable()
        return found

    def give_out(self, records: Sequence[Record]) -> list[Datagram]:
        """Records become datagrams."""
        found: list[Datagram] = []
        for some in batches(records):
            self.gateway.receive_records(some, self.now)
            found += self.gateway.datagrams_to_send()
        return found

    def settle(self, datagrams: Sequence[Datagram]) -> int:
        """Acknowledgements; returns how many records can be committed."""
        found = 0
        for batch in batches(datagrams):
            self.gateway.receive_datagrams(batch, self.now)
            found += sum(one.topic == TOPIC for one in self.gateway.positions_to_commit())
        return found

    def _durable(self) -> Sequence[Append]:
        appends = self.gateway.records_to_append()
        self.gateway.appended([one.token for one in appends if one.token is not None], self.now)
        return appends


def batches(found: Sequence[One]) -> Iterator[Sequence[One]]:
    return (found[at : at + BATCH] for at in range(0, len(found), BATCH))


def _address(number: int) -> Address:
    return "127.0.0.1", 10_000 + number
