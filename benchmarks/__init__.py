"""Benchmarks: Waxwing compared with C programs, with other servers and with earlier revisions. ``make bench``.

On a shared machine, absolute values drift by 25 % within minutes. Therefore all variants of a comparison run at the
same time, and each short burst of load on a variant is between two bursts on the reference (A B A). The result is the
median of *variant / mean of the neighbouring reference bursts*, with its interval. Such a ratio can be compared between
runs and machines; microseconds cannot.

- ``figures``   the results of a section: medians with intervals; ``Unavailable``
- ``record``    reads and writes results as JSON, with the machine and the versions
- ``tables``    the tables in the terminal and in ``docs/results/benchmarks.md``
- ``__main__``  the list of sections, and the command
- ``compare``   compares this tree with another revision, or with ``baseline.json``
- ``servers``   brokers, C programs (``c``) and minimal Python servers (``bare``) as processes
- ``bursts``    load on these servers, in turn
- ``flooder``   a process that floods a server

A *section* is a module of this package with ``TITLE: str`` and ``measure(rounds, say) -> Iterator[Figure]``.
``measure`` yields each result as soon as it is measured, and calls ``say`` with one line before each long step. It
stops every process that it starts, also on ``KeyboardInterrupt``. It raises ``Unavailable`` if the machine lacks a
requirement. Its duration grows with ``rounds``: 1 is the minimum, ``QUICK_ROUNDS`` take about 15 seconds and ``ROUNDS``
one or two minutes.
"""

from __future__ import annotations
