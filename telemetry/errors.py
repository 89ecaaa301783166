"""Errors of telemetry that a person can act on."""

from overlay.core.errors import WaxwingError


class TelemetryError(WaxwingError):
    """A file, a machine or a selection of runs that telemetry cannot use. Its text is a sentence."""


class StorageError(TelemetryError):
    """A file that could not be written, or a stored one that is damaged.

    After a failed write the previous version is unchanged, and no partial file remains.
    """
