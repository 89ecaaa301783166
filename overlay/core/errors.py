"""Two kinds of error: theirs (a peer, a user, a file) and ours.

``WireError`` and ``InvalidSetting`` are theirs: they name what was wrong and nothing has changed. Anything else that
escapes a core is ours, and is meant to be loud.
"""

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_disk_full(error: OSError) -> bool:
    return error.errno in _FULL


def describe_os_error(error: OSError) -> str:
    """A sentence on what the system refused; a full disk is called so."""
    if is_disk_full(error):
        what = error.filename or "a file"
        return f"Disk full: {what} could not be written ({error.strerror}). Free some space and try again."
    return str(error)


def describe_full_disk(path: str) -> str:
    """The same sentence, of one who had no room to say it: ``path`` could not be written."""
    return describe_os_error(OSError(errno.ENOSPC, "No space left on device", path))


class WaxwingError(Exception):
    """Base of every error that is somebody else's input, safe to show as a sentence."""


class WireError(WaxwingError):
    """A datagram that cannot be read (wire-protocol section 1). The only error that parsing raises."""


class InvalidSetting(WaxwingError):
    """A value that a configuration, topology or workload refuses.

    ``field`` is the setting's own name (dotted for nested ones), so that a form or an API puts the sentence beside it.
    """

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(f"{field}: {sentence}")
        self.field = field
        self.sentence = sentence
