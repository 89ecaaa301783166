"""Applications in a network of brokers over HTTP (seed 001, section 4)."""
