"""``make soak``: thousands of seeds of every system in virtual time, then the planted bugs that they must find.

::

    python -m tests.soak --seeds 1000                      seeds 0 to 999 of each system, and each planted bug
    python -m tests.soak --system radiator --first 1000    another range of one system
    python -m tests.soak --system radiator 17              seed 17 alone: what it drew, and where it failed
    python -m tests.soak --bugs                            the planted bugs alone, each by its stored seed
    python -m tests.soak --search                          the same from seed 0 on, to store other seeds

- ``subject``   what a system brings: its stories, and its bank of bugs
- ``subjects``  the systems that have stories
- ``cores``     seeds over all cores, interrupted by Ctrl-C
- ``progress``  how many are done, and the time that is left
- ``tables``    the results, printed

A system brings a module with ``SUBJECT``: ``tests.swarm.subject`` is that of the context broker.
"""
