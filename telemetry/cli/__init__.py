"""The commands of ``python -m telemetry`` that take more than a page."""
