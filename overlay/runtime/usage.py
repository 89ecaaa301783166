"""Resource usage of this process: memory, processor time, datagrams dropped by the kernel. Zero if unknown."""

from __future__ import annotations

import os
import resource
import socket
import struct
import sys
from pathlib import Path

_SO_MEMINFO = 55  # linux/socket.h; Python has no name for it
_MEMINFO = struct.Struct("=9I")
_DROPS = 8
_MEMORY_OF_MACHINE = Path("/proc/meminfo")


def memory() -> tuple[int, int, int]:
    """RSS, PSS and USS of this process in bytes; zeros if ``/proc/self/smaps_rollup`` is missing."""
    try:
        fd = os.open("/proc/self/smaps_rollup", os.O_RDONLY)
    except OSError:
        return 0, 0, 0
    try:
        return sizes_in(os.read(fd, 4096))
    finally:
        os.close(fd)


def peak_memory() -> int:
    """The largest RSS of this program, in bytes.

    Not ``ru_maxrss``, where Linux keeps what the process had before it became this program: a small one that a large
    one starts would have the large one's.
    """
    try:
        found = Path("/proc/self/status").read_bytes()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return _sizes(found)[b"VmHWM"]


def sizes_in(rollup: bytes) -> tuple[int, int, int]:
    """RSS, PSS and USS in bytes, from the content of a process's ``smaps_rollup``."""
    found = _sizes(rollup)
    return found[b"Rss"], found[b"Pss"], found[b"Private_Clean"] + found[b"Private_Dirty"]


def machine_memory() -> tuple[int, int]:
    """Memory of this machine, and what of it is available, in bytes; zeros if ``/proc/meminfo`` is missing."""
    try:
        found = _sizes(_MEMORY_OF_MACHINE.read_bytes())
    except OSError:
        return 0, 0
    return found[b"MemTotal"], found[b"MemAvailable"]


def _sizes(content: bytes) -> dict[bytes, int]:
    """Bytes by name, of the lines ``NAME: NUMBER kB`` of a file of ``/proc``; of the others nothing."""
    lines = (line.split() for line in content.splitlines() if line.endswith(b" kB"))
    return {name[:-1]: 1024 * int(number) for name, number, _ in lines}


def processor_us() -> int:
    """Processor time of this process so far, user and system, in microseconds."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return round((usage.ru_utime + usage.ru_stime) * 1e6)


def kernel_drops(sock: socket.socket) -> int:
    """Datagrams dropped because the receive buffer of ``sock`` was full; zero if unknown."""
    try:
        return int(_MEMINFO.unpack(sock.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))[_DROPS])
    except (OSError, struct.error):
        return 0
