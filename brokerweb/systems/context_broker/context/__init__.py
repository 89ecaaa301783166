"""The REST interface to a network's context: applications store and query data without knowing brokers."""
