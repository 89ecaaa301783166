"""``python -m overlay``: brokers, single exchanges, the supervisor, simulated runs and replays.

``commands`` dispatches to the command's module.
"""
