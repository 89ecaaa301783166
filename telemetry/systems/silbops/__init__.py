"""The telemetry of SilboPS and SIENA.

- ``measures``    what each measure means
- ``system``      tables, measures and doubts of its runs
- ``in_process``  experiments on a broker's tables alone, in this process, by processor time
"""
