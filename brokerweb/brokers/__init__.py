"""Brokers as pages show them, of a run and of a network alike: rows of all, and a panel of one.

- ``rows``    what several sources say of each broker, as one row
- ``panel``   one broker in words: what it holds, its last messages, and where each line leads
"""
