"""Memory of a gateway per idle connection: ``python -m benchmarks.contextnet.connected NODES`` prints it, in bytes.

What all objects of Python take that are there more for this many nodes, whose own ends are gone by then. Each has had a
message and its answer. A process of its own, because counting allocations makes it slower.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc

from benchmarks.contextnet.standing import Standing


def main(nodes: str) -> None:
    _standing(10)
    tracemalloc.start()
    standing = _standing(int(nodes))
    gc.collect()
    print(tracemalloc.get_traced_memory()[0] / len(standing.gateway.end.members))


def _standing(nodes: int) -> Standing:
    standing = Standing(nodes)
    out = standing.give_out(standing.answers(standing.take_in(standing.sent(nodes))))
    standing.settle(standing.acknowledged(out))
    standing.forget_nodes()
    return standing


if __name__ == "__main__":
    main(*sys.argv[1:])
