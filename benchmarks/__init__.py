"""Waxwing measured against C, against its peers and against its own past: ``make bench``.

Absolute figures drift by a quarter within minutes on a shared machine. So every contender of a comparison is alive at
once, each short burst on a variant stands between two bursts on the reference (A B A), and the figure that counts is
the median of *variant / mean of its neighbouring reference bursts* with its interval: a ratio, which travels between
runs and machines where microseconds do not.

- ``figures``   what a section yields, medians with intervals, ``Unavailable``
- ``record``    figures to JSON and back, with the machine and the versions they are of
- ``tables``    the table in the terminal and in ``docs/results/benchmarks.md``
- ``__main__``  which sections there are, and the command
- ``compare``   this tree against another revision, or against ``baseline.json``
- ``servers``   brokers, C programs (``c``) and bare Python (``bare``) as processes; ``bursts``: load on them, in turn;
  ``flooder``: a process that floods one

A *section* is a module here with ``TITLE: str`` and ``measure(rounds, say) -> Iterator[Figure]``. It yields figures as
it has them, calls ``say`` with one line before what takes long, ends every process that it starts (also on
``KeyboardInterrupt``) and raises ``Unavailable`` for what this machine lacks. Its work grows with ``rounds``: 1 is the
least that can be measured at all, ``QUICK_ROUNDS`` are about a quarter of a minute, ``ROUNDS`` a minute or two.
"""

from __future__ import annotations
