"""``python -m benchmarks.bare KIND [--bind HOST:PORT] [--next HOST:PORT]``: the least Python that makes the exchange.

Counterpart: ``benchmarks/c/server.c`` does the same in C. It receives and sends as a broker does, by ``KIND`` of
``overlay.runtime.datagrams``, and between the two there is what no Python program can leave out: one dictionary
look-up, slices, bytes put together. It keeps no pending table, no limits, no counters, no traces and no journal, and it
checks nothing. So what lies between C and this is the price of the language, and what lies between this and a broker
is the price of what a broker does.

It says its ``host:port`` on standard output once it answers, and dies with the process that started it.
"""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Sequence
from time import time_ns

from overlay.core.addresses import Address, format_address, parse_address
from overlay.runtime.datagrams import KINDS, Datagram, Spellings, open_datagrams
from overlay.runtime.lifeline import die_with_parent
from overlay.runtime.udp import bound_address, open_socket


class Bare:
    """The exchange. ``following`` is whom requests go to that the table does not answer."""

    def __init__(self, following: Address | None) -> None:
        self._following = following
        self._table: dict[bytes, bytes] = {}
        self._hops: Spellings[Address, bytes] = Spellings(lambda to: b"|%b|%d" % (to[0].encode(), to[1]))
        self._named: Spellings[Address, bytes] = Spellings(lambda to: format_address(to).encode())
        self._addresses: Spellings[tuple[bytes, bytes], Address] = Spellings(lambda hop: (hop[0].decode(), int(hop[1])))

    def answer(self, batch: Sequence[Datagram]) -> list[Datagram]:
        """What is to be sent for ``batch``."""
        out: list[Datagram] = []
        for data, source in batch:
            if data[0] == 51:  # 3 and 32
                head, stamp, key = data.split(b"|", 2)
                response = self._table.get(key)
                if response is None:
                    if len(head) == 1 and key.count(b"|") == 2:
                        out.append((self._acks(b"ContextRequest", source)[0], source))
                    if self._following is not None:
                        out.append((b"3|" + stamp + b"|" + key + self._hops[source], self._following))
                elif len(head) == 2:
                    out.append((response, source))
                else:
                    received, processed = self._acks(b"ContextRequest", source)
                    out += ((received, source), (response, source), (processed, source))
            elif data[0] == 52:  # 4
                rest, host, port = data.rsplit(b"|", 2)
                out.append((rest, self._addresses[host, port]))
            elif data[0] == 50:  # 2
                _, stamp, size, _, provider, *about, rest = data.split(b"|", 8)
                self._table[b"|".join(about)] = b"|".join((b"4", stamp, size, provider, *about, rest))
                out += ((ack, source) for ack in self._acks(b"ContextUpdateAdvertisement", source))
        return out

    def _acks(self, operation: bytes, to: Address) -> tuple[bytes, bytes]:
        now = time_ns() // 1_000_000
        received = b"5|%d|ACK|Status:101|Operation %b|Requested by %b" % (now, operation, self._named[to])
        return received, received.replace(b"|Status:101|", b"|Status:102|", 1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bare")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--bind", type=parse_address, default=("127.0.0.1", 0))
    parser.add_argument("--next", type=parse_address)
    options = parser.parse_args()
    die_with_parent(os.getppid())
    sock = open_socket(options.bind)
    datagrams = open_datagrams(sock, options.kind)
    answer = Bare(options.next).answer
    print(format_address(bound_address(sock)), flush=True)
    gc.freeze()
    receive, send = datagrams.receive, datagrams.send
    while True:
        try:
            send(answer(receive(True)))
        except OSError:  # an ICMP error of an earlier datagram
            continue


if __name__ == "__main__":
    main()
