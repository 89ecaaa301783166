"""The studies of seed 004.

- ``cells``           the runs of studies by what the presets vary
- ``disconnections``  E4.2: nodes that come and go, with and without a store
- ``presence``        E4.7: what the wait for a report costs
"""
