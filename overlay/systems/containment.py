"""Turns a bug of one system into an error that its caller reports, so that other systems go on."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager

from overlay.core.errors import InvalidSetting, WaxwingError


@contextmanager
def contained(system: object) -> Iterator[None]:
    """Raises ``InvalidSetting`` for what the code of ``system`` must not raise, and prints its traceback."""
    try:
        yield
    except (WaxwingError, OSError):
        raise
    except Exception as error:
        traceback.print_exc()
        raise InvalidSetting("system", f"{system} failed: {type(error).__name__}: {error}"[:400]) from error
