"""The longer commands of ``python -m telemetry``."""
