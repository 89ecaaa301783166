"""The telemetry of SilboPS and SIENA.

- ``measures``    what each measure means
- ``system``      tables, measures and doubts of its runs
- ``published``   what the paper says of its measurements
- ``studies``     E2.1 to E2.10
- ``in_process``  measures a broker's tables alone, in this process, by processor time
"""
