"""The language in which runs are chosen, the same on pages, in REST and on the command line. Pure.

``topology = ring and p95 < 2ms and not (tag = nightly or host in (lab-1, "lab 2"))``; words alone are sought in names.
Here it becomes a tree; what fields there are and what they mean of a run, ``brokerweb.runlist.filtering`` knows.
Counterparts: ``telemetry.thresholds`` reads single comparisons, ``docs/filters.md`` tells people.
"""

from telemetry.filters.errors import InvalidFilter, did_you_mean, pointed
from telemetry.filters.parser import parse
from telemetry.filters.tree import Among, And, Comparison, Everything, Node, Not, Or, Words

__all__ = [
    "Among",
    "And",
    "Comparison",
    "Everything",
    "InvalidFilter",
    "Node",
    "Not",
    "Or",
    "Words",
    "did_you_mean",
    "parse",
    "pointed",
]
