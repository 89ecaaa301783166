"""What may take long and has no result."""

from __future__ import annotations

import threading
from collections.abc import Callable


def later(do: Callable[[], object]) -> threading.Thread:
    """In a thread that ends with the process."""
    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    return thread
