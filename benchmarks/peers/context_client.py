"""``python -m benchmarks.peers.context_client PORT OUTSTANDING KEYS``: ``ContextClient``, as programs use it.

Each request is the full exchange on a fresh port; as many threads share the client as requests are to be outstanding.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random
from time import perf_counter_ns

from benchmarks.peers.programs.bursts import Burst, wanted
from overlay.programs.context_broker.client import ContextClient


def main(port: int, outstanding: int, keys: int) -> None:
    client = ContextClient([("127.0.0.1", port)])

    def ask(burst: Burst, seed: int) -> None:
        random = Random(seed)
        while burst.goes_on():
            key = ("temperature", f"room{random.randrange(keys):04}", "building1")
            sent = perf_counter_ns()
            burst.note(sent, len(client.ask(key).text))

    with ThreadPoolExecutor(outstanding) as threads:
        for seconds in wanted():
            burst = Burst(seconds)
            for each in [threads.submit(ask, burst, seed) for seed in range(outstanding)]:
                each.result()
            burst.close()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
