"""The part of a network's page about users of the log: which applications have one, and what for."""
