"""The messages of seed 000 in the wire lab. Counterpart: ``brokerweb.wirelab`` has the pages of every system.

``overlay.systems.context_broker.wire.table`` describes every message; forms, fields and examples are made from it, and
by ``python -m`` this package the dissector for Wireshark and ``docs/wire.md``. ``lab`` declares the parts. Messages of
recorded runs have a table with queries (``recorded``), and REST has all (``rest``).
"""
