"""The studies of seed 003: E3.1 to E3.4.

- ``arms``      runs by volume, codec, chain and load of the uplink
- ``volumes``   E3.1: compression and aggregation; ``volume_claims``: its claims
- ``chains``    E3.2: chains
- ``both``      E3.3 and E3.4: aggregation with chains, and the headline
- ``definitions`` their runs, at both scales
"""
