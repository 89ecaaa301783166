"""A process that floods a broker until it is killed: ``python -m benchmarks.flooder HOST PORT RATE CORE FILE``.

It sends the lines of ``FILE`` as datagrams, repeatedly, at ``RATE`` per second from one socket, and reads no replies.
It is pinned to ``CORE`` if possible, prints ``flooding`` once it has started, and ends with its parent process.
"""

import os
import socket
import sys
import time
from contextlib import suppress
from itertools import cycle
from pathlib import Path

PAUSE_S = 0.0005


def main(host: str, port: str, rate: str, core: str, file: str) -> None:
    if int(core) in os.sched_getaffinity(0):
        os.sched_setaffinity(0, {int(core)})
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.connect((host, int(port)))
    lines = cycle(Path(file).read_bytes().splitlines())
    begin, sent, parent = time.monotonic(), 0, os.getppid()
    sys.stdout.write("flooding\n")
    sys.stdout.flush()
    while os.getppid() == parent:
        due = int((time.monotonic() - begin) * float(rate))
        for _ in range(min(due - sent, 200)):
            with suppress(OSError):  # the server is gone, or the send buffer is full
                sock.send(next(lines))
            sent += 1
        if sent >= due:
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main(*sys.argv[1:])
