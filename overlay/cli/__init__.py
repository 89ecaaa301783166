"""``python -m overlay``: brokers, single exchanges, the supervisor, runs in virtual time and replays.

``commands`` picks the command; each has a module of its own.
"""
