"""The report that compares configurations.

- ``comparison``  the report as data; ``grouping``: replicates against a baseline; ``paired``: two runs, by request
- ``html``            as one file; ``progress``: what its process tells meanwhile
"""
