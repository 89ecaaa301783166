"""The clients of a workload: who they are, when they call, what they say, and how they live.

- ``population``   places, friends and shares of clients
- ``turns``        which client calls when, in an open loop
- ``contents``     what messages contain
- ``caller``       a client: registration, calls, deliveries, churn and faults
- ``fleet``        the clients of one process; ``shared``: what they share
- ``impairments``  the faults of a client
"""
