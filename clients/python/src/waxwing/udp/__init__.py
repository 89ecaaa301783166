"""Talks to brokers directly, by the datagrams of the context broker; no server and no token.

::

    from waxwing.udp import BrokerClient

    with BrokerClient(["127.0.0.1:20000", "127.0.0.1:20001"]) as brokers:
        brokers.provide("sensor-1", "room", "r1", "temp", {"degC": 21.5})
        print(brokers.ask("room", "r1", "temp").payload)

``AsyncBrokerClient`` has the same methods with ``await``. Brokers answer strangers outside their trusted networks with
at most three times the bytes that they sent.
"""

from waxwing.udp.client import AsyncBrokerClient, BrokerClient
from waxwing.udp.exchange import Answer, NoAnswer, NothingFound, Refused

__all__ = ["Answer", "AsyncBrokerClient", "BrokerClient", "NoAnswer", "NothingFound", "Refused"]
