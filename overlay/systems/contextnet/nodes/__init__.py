"""Mobile nodes: a list of gateways, one connection, and messages that outlive it. Pure.

- ``node``      a node
- ``choice``    the order in which it tries gateways
- ``settings``  what it remembers
"""
