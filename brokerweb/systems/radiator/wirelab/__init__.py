"""The datagrams of Radiator in the wire lab. Counterpart: ``brokerweb.wirelab.binary`` has what a table needs.

- ``lab``            declares the parts
- ``verdicts``       what a server makes of a datagram
- ``conversations``  examples, held by the server and clients themselves

``python -m`` this package writes again what is made from the table: ``docs/radiator-wire.md`` and the dissector.
"""
