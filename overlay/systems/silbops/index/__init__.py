"""Which filters of a broker a notification matches, in five ways with equal results (seed 002, section 8).

- ``contract``  what each can do
- ``terms``     constraints as numbers, which filters share
- ``scan``      every filter tested: the oracle
- ``counting``  constraints count for their filters: the baseline of the paper
- ``access``    a filter is found by its rarest equality, the rest is tested: the default
- ``leaf``      by its two rarest equalities; for many subscriptions
- ``cells``     by the cells of a grid that its box covers; for the siena arm
"""

from collections.abc import Mapping

from overlay.systems.silbops.index.access import Access
from overlay.systems.silbops.index.cells import Cells
from overlay.systems.silbops.index.contract import Index
from overlay.systems.silbops.index.counting import Counting
from overlay.systems.silbops.index.leaf import Leaf
from overlay.systems.silbops.index.scan import Scan

INDEXES: Mapping[str, type[Index]] = {
    "scan": Scan,
    "counting": Counting,
    "access": Access,
    "leaf": Leaf,
    "cells": Cells,
}
"""By the value of the setting ``index``."""

__all__ = ["INDEXES", "Access", "Cells", "Counting", "Index", "Leaf", "Scan"]
