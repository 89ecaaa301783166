"""The notifications and subscriptions of a run: the list, and one message's way."""
