"""The messages: one description, and what is made from it."""
