"""Which entities lay at how many brokers when a run ended."""
