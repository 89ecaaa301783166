"""What stops telemetry for a reason that a person can act on."""

from overlay.core.errors import WaxwingError


class TelemetryError(WaxwingError):
    """A file, a machine or a choice of runs that telemetry cannot work with, said in one sentence."""


class StorageError(TelemetryError):
    """A file that could not be written. What was there before is untouched, and no part of the new one remains."""
