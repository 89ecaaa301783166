"""Tests look into cores and replace parts of them, which compiled modules do not allow, so they run on plain Python.

A plugin of pytest, since it must come before anything of ``overlay`` is imported. Processes that tests start inherit
it. ``tests/compiled`` compares both forms.
"""

from __future__ import annotations

import os

os.environ.setdefault("WAXWING_COMPILED", "0")
