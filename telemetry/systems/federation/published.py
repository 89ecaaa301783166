"""What the paper says of its measurements.

No value of Figs. 11 to 14 is printed, so that most rows are words: a shape.
"""

from __future__ import annotations

from pathlib import Path

from telemetry.studies.reference import Reference

TABLES = ("e1_1", "e1_2", "e1_3", "e1_4", "setup")
REFERENCE = Reference(Path(__file__).parent / "reference")
table, find, slips, slips_at = REFERENCE.table, REFERENCE.find, REFERENCE.slips, REFERENCE.slips_at
