"""Accuracy of simulated figures: one page and one REST endpoint. Nothing is stored.

Counterpart: ``telemetry.calibration`` measures a machine (``make calibrate``); its module ``trust`` reads the results.
"""
