"""A test bed of seed 000: single queries, one after the other, and what each cost.

- ``draws``       what is asked, and the books on it
- ``virtual``     brokers in virtual time; ``live``: brokers as processes
- ``proof``       of what exhaustive search promises; ``copies``: where they come to lie under each replication
"""
