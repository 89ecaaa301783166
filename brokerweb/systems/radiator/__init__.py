"""Seed 003 on pages. Counterparts: ``overlay.systems.radiator``, ``telemetry.systems.radiator``.

- ``trying``         the fields of the page that tries an aggregability on sample messages
- ``views``          that page
- ``messages``       the messages of a run, and the way of each
- ``wirelab``        datagrams: the wire lab of every system, for this one
- ``inspecting``     the server of a network, asked for clients and pending messages
- ``network_views``  their tables on the page of the network
- ``web``            registers the pages
"""
