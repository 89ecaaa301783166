"""The systems, one folder each, and their registry."""
