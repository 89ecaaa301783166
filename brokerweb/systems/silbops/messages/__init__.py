"""The publications of a run: the list, and one publication's way."""
