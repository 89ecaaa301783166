"""The wire lab: what is in a datagram, what a broker says to it, and what brokers recorded of what was said.

::

    text, file ── pasted ──┐                  ┌── dissecting: fields with their offsets
    a form ── composing ───┼── one datagram ──┼── verdicts: what a broker makes of it
    a recorded run ────────┘                  └── sending: to a live broker, and its answers

``overlay.systems.context_broker.wire.table`` describes every message; forms, fields and examples are made from it, and
by ``generated`` the dissector for Wireshark and ``docs/wire.md``. All of these are pure but ``sending``; ``services``
and ``recorded`` serve the pages and REST.
"""
