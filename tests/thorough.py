"""How much is tried of what is drawn at random: a part in ``make test``, all in complete runs and ``make fuzz``.

``WAXWING_THOROUGH=1`` asks for all. What was found once is tried always: seeds that failed and planted bugs.
"""

import os

import pytest

THOROUGHLY = "WAXWING_THOROUGH"
THOROUGH = os.environ.get(THOROUGHLY) == "1"
PART = 8

thoroughly = pytest.mark.skipif(not THOROUGH, reason=f"only in the complete run, {THOROUGHLY}=1")
"""Marks a long test whose subject a shorter one tries too."""


def examples(all_of_them: int) -> int:
    """Of so many examples or seeds, those that are tried now: all, or the eighth part, and at least one."""
    return all_of_them if THOROUGH else max(1, all_of_them // PART)
