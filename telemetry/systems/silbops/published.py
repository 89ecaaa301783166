"""What the paper says of its measurements, what follows from its numbers, and its slips.

Of Figs. 7 to 11 only what the text says is known.
"""

from __future__ import annotations

from pathlib import Path

from telemetry.studies.reference import Reference

PRINTED, DERIVED = "published", "derived"
"""Tables: what is printed, and what is computed from it."""
REFERENCE = Reference(Path(__file__).parent / "reference")
find, slips_at = REFERENCE.find, REFERENCE.slips_at
