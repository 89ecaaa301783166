"""The report that compares configurations.

- ``configurations``  which runs are replicates of each other; ``comparison``: the report as data
- ``html``            as one file, with what lies in ``page``; ``progress``: what its process tells meanwhile
"""
