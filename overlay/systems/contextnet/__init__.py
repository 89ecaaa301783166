"""ContextNet (seed 004): mobile nodes on reliable datagrams, gateways, and a partitioned log behind them.

Not in the registry of systems: so far it has its transport only.
"""
