"""Minimal Python servers, forked from one process: ``python -I -S benchmarks/forked.py COUNT``.

They show the minimum memory of a Python process that answers datagrams. Each imports only ``_socket``, stores updates
in a dictionary and answers quiet requests (code 32) from it. The parent prints ``host:port pid`` for each, and all end
when its standard input is closed.
"""

import _socket
import gc
import os
import sys


def serve(sock: _socket.socket) -> None:
    table: dict[bytes, bytes] = {}
    while True:
        data, source = sock.recvfrom(65_535)
        if data[0] == 51:  # 3 and 32
            response = table.get(data.split(b"|", 2)[2])
            if response is not None:
                sock.sendto(response, source)
        elif data[0] == 50:  # 2
            _, stamp, size, _, provider, *about, rest = data.split(b"|", 8)
            table[b"|".join(about)] = b"|".join((b"4", stamp, size, provider, *about, rest))
            for status in (101, 102):
                ack = b"5|%b|ACK|Status:%d|Operation ContextUpdateAdvertisement|Requested by %b:%d"
                sock.sendto(ack % (stamp, status, source[0].encode(), source[1]), source)


def main() -> None:
    gc.freeze()
    pids = []
    for _ in range(int(sys.argv[1])):
        sock = _socket.socket(_socket.AF_INET, _socket.SOCK_DGRAM)
        sock.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVBUF, 4 << 20)
        sock.bind(("127.0.0.1", 0))
        pid = os.fork()
        if pid == 0:
            os.close(0)
            serve(sock)
        pids.append(pid)
        host, port = sock.getsockname()
        sock.close()
        sys.stdout.write(f"{host}:{port} {pid}\n")
        sys.stdout.flush()
    sys.stdin.read()
    for pid in pids:
        os.kill(pid, 9)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
