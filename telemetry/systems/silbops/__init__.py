"""The telemetry of SilboPS and SIENA.

- ``measures``    what each measure means
- ``system``      tables, measures and doubts of its runs
- ``studies``     E2.4 and E2.7 to E2.10, simulated
- ``in_process``  experiments on a broker's tables alone, in this process, by processor time
"""
