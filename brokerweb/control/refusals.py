"""Why something could not be deployed, in words for its row."""

from overlay.core.errors import describe_os_error


def in_words(error: Exception) -> str:
    """A sentence; the system's own errors say which file or resource it was about."""
    return describe_os_error(error) if isinstance(error, OSError) else str(error)
