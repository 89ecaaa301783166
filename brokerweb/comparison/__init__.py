"""Runs held against each other: which, grouped how, by which figure, and against what. Nothing here is stored."""
