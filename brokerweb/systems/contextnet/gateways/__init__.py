"""Gateways: of a run over time, with the rounds of its PoA manager, and of a network, where each can be drained.

- ``of_runs``, ``charts``  of a run, also for REST
- ``draining``             of a network: nodes that are left
- ``views``, ``rest``
"""
