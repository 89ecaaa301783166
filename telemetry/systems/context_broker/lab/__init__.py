"""A test bed for seed 000: single queries, one after the other, and their costs.

- ``draws``       the queries and their results
- ``virtual``     brokers in virtual time; ``live``: brokers as processes
- ``proof``       tests exhaustive searches; ``copies``: the distribution of copies under each replication strategy
"""
