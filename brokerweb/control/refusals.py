"""Error messages of failed deployments, stored in rows."""

from overlay.core.errors import describe_os_error


def in_words(error: Exception) -> str:
    """A sentence; operating-system errors include the file or resource."""
    return describe_os_error(error) if isinstance(error, OSError) else str(error)
