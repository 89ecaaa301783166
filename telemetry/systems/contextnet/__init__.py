"""The telemetry of ContextNet.

- ``measures``  what each measure means
- ``shown``     charts, key figures and words
- ``system``    tables, measures and doubts of its runs
"""
