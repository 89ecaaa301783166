"""The filter language for runs, used on pages, in REST and on the command line. Pure.

``topology = ring and p95 < 2ms and not (tag = nightly or host in (lab-1, "lab 2"))``; words alone search names.
This package parses a filter to a tree; ``brokerweb.runlist.filtering`` defines the fields and their meaning.
Counterparts: ``telemetry.thresholds`` parses single comparisons, ``docs/filters.md`` is the documentation.
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
