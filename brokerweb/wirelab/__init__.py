"""The wire lab: what is in a datagram, what a server says to it, and what servers recorded of what was said.

::

    text, file ── pasted ──┐                  ┌── a system's decode: fields with their offsets
    a form ── its compose ─┼── one datagram ──┼── its judge: what a server makes of it
    a capture, recordings ─┘                  └── sending: to a live server, and its answers

A system declares its datagrams as a ``lab.Lab`` and mounts ``urls.pages``; one with a table of binary messages
(``overlay.core.binary``) gets all of it from ``binary``. All of these are pure but ``sending``; ``services``,
``recorded`` and ``views`` serve pages.
"""
