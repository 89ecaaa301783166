"""Seed 003 on pages. Counterparts: ``overlay.systems.radiator``, ``telemetry.systems.radiator``.

- ``trying``         the fields of the page that tries an aggregability on sample messages
- ``views``          that page, and one that decodes datagrams
- ``inspecting``     the server of a network, asked for clients and pending messages
- ``network_views``  their tables on the page of the network
- ``web``            registers the pages
"""
