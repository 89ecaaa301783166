"""Measurements specific to one system, one folder each."""
