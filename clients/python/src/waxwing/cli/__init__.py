"""The command ``waxwing``."""
