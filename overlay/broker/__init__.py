"""The context broker of seed 000 as a pure core; the contract is the wire protocol.

- ``messages`` one class per message; ``wire`` bytes to messages and back; ``sliced`` what comes most, read by slicing,
  ``lanes`` and ``hits`` what becomes of it without a message
- ``table`` what providers said; ``storing`` what goes into it
- ``walks`` where a request goes next; ``replication`` who keeps a replica, ``refresh`` who is told a newer value;
  ``pending`` what waits for an answer; ``searching`` them together
- ``members`` who the neighbours are; ``joining`` on orders; ``pings`` on what monitoring sees
- ``opennet`` who may command and how much a stranger gets; ``station`` the one way out, and the counters
- ``config``, ``events``; ``broker`` composes and dispatches
"""
