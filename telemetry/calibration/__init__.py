"""How long everything takes on this machine, measured on live brokers, and how far the simulator may be believed.

::

    live        real brokers and clients: runs to their end, and brokers that stand and wait
    probes      what a broker's processor does for a message: one message after the other, counted by the kernel
    stages      where the time of a request goes: runs in which every query is traced, at several rates
    fit         both together as the model of ``overlay.core.service_times``, with intervals
    anchors     configurations that were not calibrated on, live and simulated, side by side
    page        ``docs/results/calibration.md`` and its chart; ``trust``: the same, read again for the web
    command     ``make calibrate``
"""
