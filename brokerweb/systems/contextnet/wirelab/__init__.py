"""The datagrams of ContextNet's transport in the wire lab.

- ``table``          each datagram, field by field
- ``dissecting``, ``composing``   from and to bytes
- ``contents``       what DATA carries, as text
- ``verdicts``       what a gateway makes of a datagram
- ``conversations``  examples, held by the two ends themselves
- ``lab``            declares the parts
- ``page``, ``lua``  what is made from the table

``python -m`` this package writes again what is made: ``docs/contextnet-wire.md`` and the dissector.
"""
