"""The messages of a run: the list, and one message's way."""
