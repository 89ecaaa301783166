"""The telemetry of SilboPS beside SIENA.

- ``in_process``  experiments on a broker's tables alone, in this process, by processor time
"""
