"""Data copies by entity at the end of a run."""
