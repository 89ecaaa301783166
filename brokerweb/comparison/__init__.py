"""Comparison of runs: selection, grouping, figures and baseline. Nothing is stored."""
