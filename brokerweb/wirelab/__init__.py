"""The wire lab: what is in a datagram, what a broker says to it, and what brokers recorded of what was said.

::

    text, file ── pasted ──┐                  ┌── dissecting: fields with their offsets
    a form ── composing ───┼── one datagram ──┼── verdicts: what a broker makes of it
    a recorded run ────────┘                  └── sending: to a live broker, and its answers

``layouts`` describes every message once; forms, fields, examples and the Wireshark dissector are held to it. All of
these are pure but ``sending``; ``services`` puts them together for the pages and REST.
"""
