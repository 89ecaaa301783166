"""Traced queries, for REST and pages."""
