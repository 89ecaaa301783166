"""Single queries that brokers traced: found, told as REST gives them, and shown on pages."""
