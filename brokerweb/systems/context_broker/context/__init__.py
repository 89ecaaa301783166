"""The front of a network: applications provide and ask context without knowing that there are brokers."""
