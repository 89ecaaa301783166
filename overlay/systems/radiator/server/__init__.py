"""The server: registration, acceptance, and propagation of what an aggregator emits."""
