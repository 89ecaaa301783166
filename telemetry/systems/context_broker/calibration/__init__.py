"""How long everything takes a broker on this machine, measured live, and how far the simulator may be believed.

::

    probes      what a broker's processor does for a message: one message after the other, counted by the kernel
    stages      where the time of a request goes: runs in which every query is traced, at several rates
    fit         both together as the model of ``overlay.core.service_times``, with intervals
    anchors     configurations that were not calibrated on
    command     ``make calibrate``
"""
