"""The index of a broker's subscriptions (seed 001, section 5)."""
