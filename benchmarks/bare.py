"""A minimal Python server for the exchange: ``python -m benchmarks.bare KIND [--bind HOST:PORT] [--next HOST:PORT]``.

Counterpart: ``benchmarks/c/server.c`` does the same in C. It receives and sends as a broker does, with a ``KIND`` of
``overlay.runtime.datagrams``. In between it does only what every Python program must do: one dictionary look-up, some
slices and a concatenation. It has no pending table, limits, counters, traces, journal or checks. So the difference
between C and this server is the cost of the language, and the difference to a broker is the cost of its functions.

It prints its ``host:port`` once it answers, and ends with its parent process.
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
    """The exchange. Requests that are not in the table are forwarded to ``following``."""

    def __init__(self, following: Address | None) -> None:
        self._following = following
        self._table: dict[bytes, bytes] = {}
        self._hops: Spellings[Address, bytes] = Spellings(lambda to: b"|%b|%d" % (to[0].encode(), to[1]))
        self._named: Spellings[Address, bytes] = Spellings(lambda to: format_address(to).encode())
        self._addresses: Spellings[tuple[bytes, bytes], Address] = Spellings(lambda hop: (hop[0].decode(), int(hop[1])))

    def answer(self, batch: Sequence[Datagram]) -> list[Datagram]:
        """The datagrams to send in reply to ``batch``."""
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
