"""Errors of input (a peer, a user, a file) and their sentences.

``WireError`` and ``InvalidSetting`` name what is wrong with the input, and nothing has changed. Any other exception
that escapes a core is a bug of ours and is not caught.
"""

import errno
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_disk_full(error: OSError) -> bool:
    return error.errno in _FULL


def describe_os_error(error: OSError) -> str:
    """A sentence on an operation that the system refused. It says so if the disk is full."""
    if is_disk_full(error):
        what = error.filename or "a file"
        return f"Disk full: {what} could not be written ({error.strerror}). Free some space and try again."
    return str(error)


def describe_full_disk(path: str) -> str:
    """The sentence for a process that could not report by itself that ``path`` could not be written."""
    return describe_os_error(OSError(errno.ENOSPC, "No space left on device", path))


class WaxwingError(Exception):
    """Base of all errors caused by input. Its text is a sentence that is safe to show."""


class WireError(WaxwingError):
    """A datagram that cannot be parsed (wire-protocol section 1). The only error that parsing raises."""


class InvalidSetting(WaxwingError):
    """A value that a configuration, topology or workload refuses.

    ``field`` is the name of the setting (dotted if nested), so that forms and the API can show the sentence next to it.
    """

    def __init__(self, field: str, sentence: str) -> None:
        super().__init__(f"{field}: {sentence}")
        self.field = field
        self.sentence = sentence


class InvalidSettings(InvalidSetting):
    """Several; ``field`` and ``sentence`` are those of the first."""

    def __init__(self, errors: Sequence[InvalidSetting]) -> None:
        super().__init__(errors[0].field, errors[0].sentence)
        self.errors = tuple(errors)


def shown(value: object, most: int = 60) -> str:
    """A refused value in a sentence, cut after ``most`` characters: text in single quotes, all else as in JSON and YAML
    (``null``, ``true``).
    """
    if not isinstance(value, str):
        with suppress(TypeError, ValueError):  # what no document contains
            return json.dumps(value, ensure_ascii=False)[:most]
    return repr(value)[:most]


@contextmanager
def within(field: str) -> Iterator[None]:
    """Put ``field.`` before the names in the ``InvalidSetting`` raised inside."""
    try:
        yield
    except InvalidSetting as error:
        raise InvalidSetting(f"{field}.{error.field}", error.sentence) from None


def every_error(*checks: Callable[[], object]) -> list[InvalidSetting]:
    """What each of the checks refuses, in their order, for forms that show all errors at once."""
    found = []
    for check in checks:
        try:
            check()
        except InvalidSetting as error:
            found.append(error)
    return found
