"""What the paper says of its measurements (Figs. 4 to 23)."""

from __future__ import annotations

from pathlib import Path

from telemetry.studies.reference import Reference

INBOUND, DISCONNECTIONS = "inbound", "disconnections"
"""Tables."""
REFERENCE = Reference(Path(__file__).parent / "reference")
find = REFERENCE.find
