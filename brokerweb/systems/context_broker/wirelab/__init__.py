"""The wire lab: what is in a datagram, what a broker says to it, and what brokers recorded of what was said.

::

    text, file ── pasted ──┐                  ┌── dissecting: fields with their offsets
    a form ── composing ───┼── one datagram ──┼── verdicts: what a broker makes of it
    a recorded run ────────┘                  └── sending: to a live broker, and its answers

``layouts`` describes every message once, in the terms of ``kinds``; forms, fields, examples and the dissector for
Wireshark are held to it. All of these are pure but ``sending``; ``services`` and ``recorded`` serve the pages and REST.
"""
