"""Measures the service times of a broker on this machine, and the accuracy of the simulator.

::

    probes      processor time per message: one message after the other, counted by the kernel
    stages      the stages of requests: runs in which every query is traced, at several rates
    fit         combines both to the model of ``overlay.core.service_times``, with intervals
    anchors     configurations not used for the calibration
    plan        all of these, for ``make calibrate``
"""
