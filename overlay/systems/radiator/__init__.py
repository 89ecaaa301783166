"""Seed 003, Radiator: contexts are aggregated by one server and pushed to clients, directly or along chains of them."""
