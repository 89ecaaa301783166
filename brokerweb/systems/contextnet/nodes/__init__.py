"""The part of a network's page about its mobile nodes: where they are, and their secrets."""
