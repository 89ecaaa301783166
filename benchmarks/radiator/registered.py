"""Memory of a server per client: ``python -m benchmarks.radiator.registered CLIENTS`` prints it, in bytes.

A process of its own, so that nothing else is counted: what it has more to itself (USS) once all have registered.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from benchmarks.radiator.standing import Standing
from overlay.runtime.usage import sizes_in


def main(clients: str) -> None:
    Standing(10)
    before = _uss()
    standing = Standing(int(clients))
    print((_uss() - before) / len(standing.service.clients))


def _uss() -> int:
    gc.collect()
    return sizes_in(Path("/proc/self/smaps_rollup").read_bytes())[2]


if __name__ == "__main__":
    main(*sys.argv[1:])
