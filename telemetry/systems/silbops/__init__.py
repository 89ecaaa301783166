"""The telemetry of seed 002.

- ``measures``  what each measure means
- ``system``    tables, measures and doubts of its runs
"""
