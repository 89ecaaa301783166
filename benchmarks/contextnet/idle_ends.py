"""Memory of a gateway's end per idle connection: ``python -m benchmarks.contextnet.idle_ends TRANSPORT`` prints it, in
bytes of Python's objects. A process of its own, because counting allocations makes it slower."""

from __future__ import annotations

import gc
import sys
import tracemalloc

from benchmarks.contextnet.transports import IDLE_NODES, idle


def main(transport: str) -> None:
    idle(transport, 2)
    tracemalloc.start()
    pair = idle(transport, IDLE_NODES)
    gc.collect()
    print(tracemalloc.get_traced_memory()[0] / len(pair.gateway.members))


if __name__ == "__main__":
    main(*sys.argv[1:])
