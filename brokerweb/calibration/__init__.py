"""How far simulated figures may be believed: one page, and one address of REST. Nothing is stored.

Counterpart: ``telemetry.calibration`` measures a machine (``make calibrate``), and ``trust`` there reads what it wrote.
"""
